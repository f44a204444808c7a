// covers: openat mmap mprotect munmap read
// flags: -ldl -rdynamic
#include "guest.h"
#include <dlfcn.h>
#include <link.h>

/* Libraries that are loaded while the program runs: symbols by name, order, namespaces and errors. */
int exported_by_the_program = 42;
int exported(int x)
{
    return x + 1;
}
static int count(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    if (strstr(info->dlpi_name, "libutil") || strstr(info->dlpi_name, "libm.so"))
        ++*(int *)data;
    return 0;
}
static void error(const char *what)
{
    const char *e = dlerror();
    printf("%s: %s\n", what,
        e ? strstr(e, "cannot open") ? "cannot open" : strstr(e, "undefined symbol") ? "undefined symbol" : strstr(e, "invalid ELF") || strstr(e, "file too short") ? "no library" : strstr(e, "invalid mode") ? "invalid mode" : "another error" : "no error");
}

int main(void)
{
    int n = 0;
    void *self = dlopen(NULL, RTLD_LAZY), *m = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    int (*f)(int) = (int (*)(int))dlsym(self, "exported");
    is(f && f(1) == 2), is(*(int *)dlsym(self, "exported_by_the_program") == 42), is(dlsym(self, "printf") == (void *)printf),
        is(dlsym(self, "none of them") == NULL), error("dlsym"), error("again"), is(m != NULL);
    double (*cosine)(double) = (double (*)(double))dlsym(m, "cos");
    is(cosine && cosine(0) == 1), is(dlsym(RTLD_DEFAULT, "exported") == (void *)f), is(dlsym(RTLD_NEXT, "exported") == NULL), error("next"),
        is(dlopen("libm.so.6", RTLD_NOW) == m), is(dlopen("libm.so.6", RTLD_NOW | RTLD_NOLOAD) == m), is(dlopen("none.so", RTLD_NOW) == NULL),
        error("none"), is(dlopen("host/file", RTLD_NOW) == NULL), error("no slash in the name, or no library"),
        put("text.so", "no library at all, only some text that is longer than an ELF header would have to be"),
        is(dlopen("./text.so", RTLD_NOW) == NULL), error("text"), is(dlopen("libm.so.6", 0) == NULL), error("mode"), put("short.so", "\177ELF"),
        is(dlopen("./short.so", RTLD_NOW) == NULL), error("short");
    dl_iterate_phdr(count, &n), is(n >= 1);
    Dl_info info;
    is(dladdr((void *)exported, &info) != 0 && strcmp(info.dli_sname, "exported") == 0 && info.dli_saddr == (void *)exported),
        is(dladdr(&n, &info) == 0), is(dladdr((void *)cosine, &info) != 0 && strstr(info.dli_fname, "libm.so")), num(dlclose(m)), num(dlclose(m)),
        num(dlclose(m));
    void *own = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    is(own && dlsym(own, "getpid") != dlsym(self, "getpid"));
    pid_t (*other)(void) = (pid_t (*)(void))dlsym(own, "getpid");
    is(other && other() == getpid());
    Lmid_t id = -1;
    num(dlinfo(own, RTLD_DI_LMID, &id)), is(id > 0), num(dlclose(own)), is(dlvsym(self, "memcpy", "GLIBC_2.2.5") != NULL),
        is(dlvsym(self, "memcpy", "GLIBC_9.9") == NULL), error("version");
    return 0;
}
