// covers: open read write lseek fcntl dup close pipe2
#include "guest.h"
#include <stdio_ext.h>
#include <wchar.h>
#include <locale.h>

/* Streams of the C library over descriptors: modes, buffers, places, both directions, errors and ends. */
static const struct {
    const char *mode;
} modes[] = {{"r"}, {"r+"}, {"w"}, {"w+"}, {"a"}, {"a+"}, {"wx"}, {"re"}, {"rb+"}, {"x"}, {""}};

static void state(const char *what, FILE *f)
{
    printf("%s: at %ld, end %d, error %d\n", what, ftell(f), !!feof(f), !!ferror(f)), clearerr(f);
}

int main(void)
{
    char buf[64];
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        put("f", "old text"), errno = 0;
        FILE *f = fopen("f", modes[i].mode);
        printf("== '%s': %s\n", modes[i].mode, f ? "opened" : strerrorname_np(errno));
        if (!f)
            continue;
        printf("flags %#lo to close %ld\n", S(fcntl, fileno(f), F_GETFL), S(fcntl, fileno(f), F_GETFD)), num(fread(buf, 1, 3, f)), state("read", f),
            num(fseek(f, 0, SEEK_CUR)), num(fwrite("NEW", 1, 3, f)), num(fflush(f)), state("written", f), num(fseek(f, 1, SEEK_SET)), num(fgetc(f)),
            num(fclose(f)), cat("f");
    }
    /* Buffers: by lines, full, none; sizes. */
    int p[2];
    if (pipe2(p, O_NONBLOCK))
        return 1;
    FILE *w = fdopen(p[1], "w"), *r = fdopen(p[0], "r");
    setvbuf(w, 0, _IOLBF, 0), fprintf(w, "part"), show("by line", S(read, p[0], buf, 64)), fprintf(w, " and end\nmore"),
        show("after the line", S(read, p[0], buf, 64)), fflush(w), show("flushed", S(read, p[0], buf, 64)), setvbuf(w, 0, _IONBF, 0),
        fprintf(w, "%s", "none"), show("none", S(read, p[0], buf, 64)), num(__fbufsize(w) <= 1);
    errno = 0, num(fgetc(r)), is(errno == EAGAIN), state("nothing there", r), fputs("abc", w), num(fgetc(r)), num(ungetc('Z', r)), num(fgetc(r)),
        num(fgetc(r)), num(ungetc(EOF, r)), num(fclose(w)), num(fgetc(r)), num(fgetc(r)), printf("end %d error %d\n", !!feof(r), !!ferror(r)),
        errno = 0, num(fseek(r, 0, SEEK_SET)), is(errno == ESPIPE), fclose(r);
    FILE *full = fopen("/dev/full", "w");
    num(fprintf(full, "text")), errno = 0, num(fflush(full)), is(errno == ENOSPC), num(!!ferror(full)), num(fclose(full));

    /* Memory as a stream, cookies, lines of any length. */
    char memory[16] = "", *grown = 0, *line = 0;
    size_t size = 0, room = 0;
    FILE *m = fmemopen(memory, sizeof memory, "w+");
    num(fprintf(m, "0123456789")), fflush(m), printf("%s\n", memory), rewind(m), num(fscanf(m, "%4[0-9]", buf)), num(fprintf(m, "0123456789abcdef")),
        num(fflush(m)), num(fclose(m)), m = open_memstream(&grown, &size), fprintf(m, "grows %d", 1), fflush(m), printf("%s %zu\n", grown, size),
        fseek(m, 20, SEEK_SET), fputc('x', m), fclose(m), num(size), put("lines", "one\n\nthree without end"), m = fopen("lines", "r");
    for (ssize_t n; (n = getline(&line, &room, m)) >= 0;)
        printf("%zd '%s'\n", n, line);
    rewind(m), num(getdelim(&line, &room, 't', m)), printf("%s\n", line);
    fpos_t pos;
    fgetpos(m, &pos), num(fgetc(m)), fsetpos(m, &pos), num(fgetc(m)), m = freopen("f", "r", m), is(m && fgets(buf, sizeof buf, m)), printf("%s\n", buf);
    /* A descriptor's place and a stream's. */
    m = fopen("lines", "r+"), fgetc(m), num(S(lseek, fileno(m), 0, SEEK_CUR)), num(fflush(m)), num(S(lseek, fileno(m), 0, SEEK_CUR)),
        num(fputs("XY", m)), fclose(m), cat("lines");
    is(fdopen(99, "r") == NULL && errno == EBADF), is(fdopen(open("f", O_RDONLY), "w") == NULL && errno == EINVAL),
        is(fopen("none/x", "w") == NULL && errno == ENOENT), is(fopen("host", "w") == NULL && errno == EISDIR), m = fopen("host", "r"),
        is(m && fgetc(m) == EOF && errno == EISDIR);
    printf("%s\n", setlocale(LC_ALL, "C.UTF-8")), m = fopen("wide", "w"), num(fwide(m, 0)), num(fputwc(0xe9, m)), num(fwide(m, -1) > 0),
        num(fputws(L"\u20ac\U0001f600", m)), fclose(m), cat("wide"), m = fopen("wide", "r"), num(fgetwc(m)), num(fgetwc(m)), num(fgetwc(m)),
        num(fgetwc(m)), put("bad", "\xff"), m = fopen("bad", "r"), errno = 0, is(fgetwc(m) == WEOF && errno == EILSEQ);
    return 0;
}
