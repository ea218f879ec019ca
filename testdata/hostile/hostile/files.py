"""What it does to files outside of its folder, to its own folder, and to memory that would stay."""

import fcntl
import os
import struct
import subprocess
import sys

from hostile.behaviours import refused, harmless, outside, system

# Files outside.


@refused
def create_a_file_outside():
    open(outside("new"), "w").close()


@refused
def overwrite_a_file_outside():
    with open(outside("file"), "w") as stream:
        stream.write("gone")


@refused
def append_to_a_file_outside():
    with open(outside("file"), "a") as stream:
        stream.write("more")


@refused
def truncate_a_file_outside():
    os.truncate(outside("file"), 0)


@refused
def remove_a_file_outside():
    os.unlink(outside("file"))


@refused
def rename_a_file_outside():
    os.rename(outside("file"), outside("renamed"))


@refused
def move_a_file_from_outside():
    os.rename(outside("file"), "taken")


@refused
def make_a_folder_outside():
    os.mkdir(outside("folder"))


@refused
def make_a_link_outside():
    os.symlink("/etc/passwd", outside("link"))


@refused
def hard_link_from_outside():
    os.link(outside("file"), "linked")
    with open("linked", "w") as stream:
        stream.write("gone")


@refused
def write_through_a_link_inside():
    if os.path.lexists("way-out"):
        os.unlink("way-out")
    os.symlink(outside("file"), "way-out")
    with open("way-out", "w") as stream:
        stream.write("gone")


@refused
def change_the_mode_of_a_file_outside():
    os.chmod(outside("file"), 0o777)


@refused
def change_the_mode_by_descriptor():
    descriptor = os.open(outside("file"), os.O_RDONLY)
    try:
        os.fchmod(descriptor, 0o777)
    finally:
        os.close(descriptor)


@refused
def change_the_owner_of_a_file_outside():
    os.chown(outside("file"), 12345, 12345)


@refused
def change_the_times_of_a_file_outside():
    os.utime(outside("file"), (1, 1))


@refused
def set_an_attribute_of_a_file_outside():
    os.setxattr(outside("file"), "user.hostile", b"1")


@refused
def set_flags_of_a_file_outside():
    descriptor = os.open(outside("file"), os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, 0x40086602, struct.pack("l", 0x40))
    finally:
        os.close(descriptor)


@refused
def make_a_device_outside():
    os.mknod(outside("device"), 0o600 | 0o020000, os.makedev(1, 3))


@refused
def make_a_device_inside():
    os.mknod("device", 0o600 | 0o060000, os.makedev(254, 0))


@refused
def write_from_a_child_outside():
    subprocess.check_call(
        [sys.executable, "-S", "-c", "open(%r, 'w')" % outside("new")], stderr=subprocess.DEVNULL
    )


@harmless
def replace_the_work_folder_by_a_link():
    """The clean-up must not follow it."""
    folder = os.getcwd()
    os.chdir("/")
    os.rename(folder, folder + "-moved")
    os.symlink(outside(), folder)
    os._exit(0)


@harmless
def replace_the_parent_of_the_work_folder_by_a_link():
    folder = os.path.dirname(os.getcwd())
    os.chdir("/")
    os.rename(folder, folder + "-moved")
    os.symlink(outside("parent"), folder)
    os._exit(0)


@harmless
def fill_the_work_folder_with_deep_folders():
    for _ in range(400):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)


@harmless
def make_the_work_folder_unreadable():
    os.chmod(os.getcwd(), 0)
    os._exit(0)


@harmless
def write_one_huge_file():
    with open("huge", "wb") as stream:
        stream.truncate(1 << 40)


# Memory that stays.


@harmless
def leave_a_file_in_shared_memory():
    try:
        with open("/dev/shm/hostile-left", "w") as stream:
            stream.write("x" * 1000)
    except OSError:
        pass


@harmless
def leave_system_v_memory():
    try:
        system(29, 0x46495353, 4096, 0o1666)
    except OSError:
        pass


@harmless
def leave_a_system_v_queue():
    try:
        system(68, 0x46495353, 0o1666)
    except OSError:
        pass


@harmless
def leave_system_v_semaphores():
    try:
        system(64, 0x46495353, 1, 0o1666)
    except OSError:
        pass
