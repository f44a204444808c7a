// covers: getdents64 newfstatat open
#include "guest.h"
#include <dirent.h>
#include <fnmatch.h>
#include <glob.h>
#include <regex.h>
#include <wordexp.h>

/* Patterns of names: glob, fnmatch, wordexp and regular expressions, over real directories. */
static void pattern(const char *p, int flags)
{
    glob_t g;
    int r = glob(p, flags, 0, &g);
    printf("%s (%#x): %s", p, flags, r == 0 ? "" : r == GLOB_NOMATCH ? "no match" : r == GLOB_ABORTED ? "aborted" : "no space");
    for (size_t i = 0; r == 0 && i < g.gl_pathc; i++)
        printf(" %s", g.gl_pathv[i]);
    printf("\n");
    if (r == 0)
        globfree(&g);
}
static void words(const char *p, int flags)
{
    static const char *errors[] = {"", "no space", "bad character", "undefined", "command", "syntax"};
    wordexp_t w;
    int r = wordexp(p, &w, flags);
    printf("%s: %s", p, errors[r < 0 || r > 5 ? 0 : r]);
    for (size_t i = 0; r == 0 && i < w.we_wordc; i++)
        printf(" [%s]", w.we_wordv[i]);
    printf("\n");
    if (r == 0)
        wordfree(&w);
}
static void match(const char *p, const char *text)
{
    regex_t re;
    regmatch_t m[3];
    char why[100];
    int r = regcomp(&re, p, REG_EXTENDED);
    if (r == 0)
        r = regexec(&re, text, 3, m, 0);
    if (r)
        regerror(r, &re, why, sizeof why), printf("%s in %s: %s\n", p, text, why);
    else
        printf("%s in %s: %d-%d, %d-%d\n", p, text, (int)m[0].rm_so, (int)m[0].rm_eo, (int)m[1].rm_so, (int)m[1].rm_eo);
}
static int errors;
static int complain(const char *path, int error)
{
    errors++, printf("  %s: %s\n", path, strerrorname_np(error));
    return 0;
}

int main(void)
{
    S(mkdir, "d", 0755), S(mkdir, "d/sub", 0755), put("d/a.c", ""), put("d/b.c", ""), put("d/.hidden", ""), put("d/[x]", ""), put("d/sub/c.c", ""),
        put("d/A.h", ""), S(symlink, "none", "d/z.c");
    pattern("d/*", 0), pattern("d/*.c", 0), pattern("d/[ab].c", 0), pattern("d/[!a].c", 0), pattern("d/?.?", 0), pattern("*/*/*.c", 0),
        pattern("d/.*", 0), pattern("d/\\[x]", 0), pattern("d/\\[x]", GLOB_NOESCAPE), pattern("d/*", GLOB_MARK), pattern("d/*", GLOB_ONLYDIR),
        pattern("d/*", GLOB_PERIOD), pattern("none/*", 0), pattern("none*", GLOB_NOCHECK), pattern("x", GLOB_NOMAGIC),
        pattern("d/{a,b,x}.c", GLOB_BRACE), pattern("d/{a,b,x}.c", 0), pattern("", 0), pattern("d/", 0), pattern("d//a.c", 0),
        pattern("~", GLOB_TILDE), pattern("d/z*", 0), pattern("d/[a-c].[ch]", 0), pattern("d/[[:upper:]]*", 0), pattern("[", 0);
    glob_t g = {.gl_offs = 2};
    glob("d/*.c", GLOB_DOOFFS, 0, &g), glob("d/*.h", GLOB_DOOFFS | GLOB_APPEND, 0, &g), printf("%zu:", g.gl_pathc);
    for (size_t i = 0; i < g.gl_pathc + 2; i++)
        printf(" %s", g.gl_pathv[i] ? g.gl_pathv[i] : "-");
    printf("\n"), globfree(&g), num(glob("host/file/*", GLOB_ERR, complain, &g)), num(errors);
    const char *names[] = {"abc", "a/c", ".abc", "a[c", "ABC", ""},
        *patterns[] = {"a*c", "a?c", "*", "a[/]c", "a[[]c", "[!b]bc", "a\\*c", "abc*", "[a-c]*", "*/c"};
    for (int i = 0; i < 10; i++) {
        printf("%s:", patterns[i]);
        for (int j = 0; j < 6; j++)
            printf(" %d%d%d%d", fnmatch(patterns[i], names[j], 0), fnmatch(patterns[i], names[j], FNM_PATHNAME),
                fnmatch(patterns[i], names[j], FNM_PERIOD), fnmatch(patterns[i], names[j], FNM_CASEFOLD));
        printf("\n");
    }
    setenv("V", "one two", 1), words("$V \"$V\" 'x y' d/*.c", 0), words("${V}x ${NONE:-default} $((2+3*4))", 0), words("$NONE", WRDE_UNDEF),
        words("a|b", 0), words("(", 0), words("\"open", 0), words("$(echo run)", 0), words("$(echo run)", WRDE_NOCMD), words("~/x d/none*", 0);
    match("a(b*)c", "xabbbc"), match("^(a|b)+$", "abab"), match("[[:digit:]]{2,3}", "x1234"), match("(", "x"), match("a{2,1}", "x"), match("[z", "x"),
        match("x", "y"), match("\\<w", "a word"), match("(.)\\1", "abccd");
    return 0;
}
