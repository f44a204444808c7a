// covers: userfaultfd
// exit: 125
// native: skip Linux would wait for the page; here the run ends, with a message that says so
// expect: userfault_kernel.out
// user: root
#include "emulated.h"
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

/* A system call that accesses a page that nobody has given. */
int main(void)
{
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_api api = {UFFD_API, 0, 0};
    struct uffdio_register all = {{(uint64_t)p, 4096}, UFFDIO_REGISTER_MODE_MISSING, 0};
    long fd = T(userfaultfd, 0);
    T(ioctl, fd, UFFDIO_API, &api), T(ioctl, fd, UFFDIO_REGISTER, &all), fflush(stdout);
    S(getcwd, p, 4096);
    puts("not reached");
    return 0;
}
