/* One operation of tasks and processes, as often as the number says: `tasks OPERATION NUMBER [MIB]`. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int check(int result) {
    if (result < 0) {
        perror("tasks");
        exit(1);
    }
    return result;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *operation = argv[1];
    long number = atol(argv[2]);
    int there[2], back[2];
    char byte = 0;
    check(pipe(there));
    check(pipe(back));
    if (!strcmp(operation, "call")) {
        while (number-- > 0) syscall(SYS_getpid);
    } else if (!strcmp(operation, "pipe")) {
        /* The calls of `switch`, by one process. */
        while (number-- > 0) {
            check(write(there[1], &byte, 1));
            check(read(there[0], &byte, 1));
        }
    } else if (!strcmp(operation, "switch")) {
        if (!check(fork())) {
            while (number-- > 0) {
                check(read(there[0], &byte, 1));
                check(write(back[1], &byte, 1));
            }
            _exit(0);
        }
        while (number-- > 0) {
            check(write(there[1], &byte, 1));
            check(read(back[0], &byte, 1));
        }
        wait(NULL);
    } else if (!strcmp(operation, "fork")) {
        size_t size = (argc > 3 ? strtoul(argv[3], NULL, 10) : 0) << 20;
        char *memory = malloc(size + 1);
        for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
        while (number-- > 0) {
            if (!check(fork())) _exit(0);
            wait(NULL);
        }
    } else if (!strcmp(operation, "exec")) {
        while (number-- > 0) {
            if (!check(fork())) {
                execl("/bin/true", "true", (char *)0);
                _exit(1);
            }
            wait(NULL);
        }
    } else {
        return 2;
    }
    return 0;
}
