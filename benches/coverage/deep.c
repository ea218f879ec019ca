/* Functions that die behind nested conditions; each condition is a block of its own. `deep.py` calls them. */

static void die(void) { *(volatile int *)8 = 1; }

/* Rank, then three sizes, of which one follows from another. */
void sizes(int rank, const long *size) {
    volatile int reached = 0;
    if (rank != 3) return;
    reached++;
    if (size[0] != 2) return;
    reached++;
    if (size[1] != size[0] + 3) return;
    reached++;
    if (size[2] == 7) die();
}

/* Rank, element type, then the values of two elements. */
void elements(int rank, int kind, long count, const double *element) {
    volatile int reached = 0;
    if (rank != 1) return;
    reached++;
    if (kind != 1) return;
    reached++;
    if (count < 4) return;
    reached++;
    if (element[1] != 1) return;
    reached++;
    if (element[3] < 1000) return;
    reached++;
    if (element[0] == -1) die();
}

/* A mode, a number within a range that the mode says, a second that is a multiple of it. */
void numbers(int mode, int first, int second, int third) {
    volatile int reached = 0;
    if (mode != 5) return;
    reached++;
    if (first < 20 || first > 24) return;
    reached++;
    if (second != 2 * first) return;
    reached++;
    if (third == second - 1) die();
}

/* Sizes, an element type and a number together. */
void mixed(int rank, const long *size, int kind, int axis, int group) {
    volatile int reached = 0;
    if (rank != 4) return;
    reached++;
    if (kind != 1) return;
    reached++;
    if (axis != -2) return;
    reached++;
    if (size[2] != 6) return;
    reached++;
    if (group != 3) return;
    reached++;
    if (size[1] == 3) die();
}

/* A text, letter by letter. */
void text(int length, const char *letters, int count) {
    volatile int reached = 0;
    if (length < 3) return;
    reached++;
    if (letters[0] != 'q') return;
    reached++;
    if (letters[1] != 'z') return;
    reached++;
    if (letters[2] != 'k') return;
    reached++;
    if (count == 9) die();
}

/* Bits of a number, one after the other. */
void bits(long flags) {
    volatile int reached = 0;
    if (!(flags & 1)) return;
    reached++;
    if (!(flags & 8)) return;
    reached++;
    if (flags & 2) return;
    reached++;
    if (!(flags & 256)) return;
    reached++;
    if (!(flags & 4096)) return;
    reached++;
    if (flags >> 13 == 0) die();
}
