"""What it tries to read, and whom it tries to talk to."""

import os
import socket

from hostile.behaviours import refused, orchestrator, read_secret

# Secrets.


@refused
def read_an_ssh_key():
    read_secret(os.path.join(os.environ["HOSTILE_HOME"], ".ssh", "id_test"))


@refused
def read_a_token():
    read_secret(os.path.join(os.environ["HOSTILE_HOME"], ".netrc"))


@refused
def read_a_secret_through_a_link():
    if os.path.lexists("key"):
        os.unlink("key")
    os.symlink(os.path.join(os.environ["HOSTILE_HOME"], ".ssh", "id_test"), "key")
    read_secret("key")


@refused
def read_a_secret_of_the_environment():
    os.environ["HOSTILE_SECRET_TOKEN"]


@refused
def read_the_environment_of_the_orchestrator():
    with open("/proc/%d/environ" % orchestrator(), "rb") as stream:
        if b"HOSTILE_SECRET_TOKEN" not in stream.read():
            raise PermissionError("not in it")


@refused
def read_the_memory_of_the_orchestrator():
    with open("/proc/%d/mem" % orchestrator(), "rb") as stream:
        stream.read(1)


@refused
def talk_to_a_socket_of_the_user():
    """An ssh-agent, or docker."""
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.connect(os.environ["HOSTILE_SOCKET"])


@refused
def talk_to_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.connect("\0" + os.environ["HOSTILE_ABSTRACT"])


# The network.


@refused
def connect_to_this_machine():
    socket.create_connection(("127.0.0.1", int(os.environ["HOSTILE_PORT"])), 2).close()


@refused
def connect_by_version_six():
    socket.create_connection(("::1", int(os.environ["HOSTILE_PORT"])), 2).close()


@refused
def send_a_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.sendto(b"x", ("127.0.0.1", int(os.environ["HOSTILE_PORT"])))


@refused
def open_a_raw_socket():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as endpoint:
        endpoint.bind(("eth0", 0))


@refused
def talk_to_the_host_of_a_virtual_machine():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
