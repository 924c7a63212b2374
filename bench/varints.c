/*
 * varints.c - the lower bound for reading a trace: decodes all bytes of a file as varints.
 *
 *   varints FILE
 *
 * Prints their number and a sum, so that the work cannot be left out.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint8_t window[1 << 18];

int main(int argc, char **argv)
{
    uint64_t count = 0, sum = 0, value = 0;
    unsigned shift = 0;
    ssize_t n;
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0) {
        fprintf(stderr, "usage: varints FILE\n");
        return 2;
    }
    while ((n = read(fd, window, sizeof window)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            value |= (uint64_t)(window[i] & 0x7f) << (shift & 63);
            shift += 7;
            if (window[i] < 0x80) {
                count++;
                sum += value;
                value = 0;
                shift = 0;
            }
        }
    }
    printf("%llu %llu\n", (unsigned long long)count, (unsigned long long)sum);
    return n < 0;
}
