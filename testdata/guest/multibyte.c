// covers: open read mmap
#include "guest.h"
#include <ctype.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

/* Characters of several bytes in the C library: locales that are always there, conversions, their errors, numbers. */
static void convert(const char *to, const char *from, const char *text, size_t n)
{
    char out[64], *in = (char *)text, *o = out;
    size_t left = sizeof out;
    iconv_t cd = iconv_open(to, from);
    if (cd == (iconv_t)-1) {
        printf("%s from %s: %s\n", to, from, strerrorname_np(errno));
        return;
    }
    errno = 0;
    size_t r = iconv(cd, &in, &n, &o, &left);
    printf("%s from %s: %ld %s left %zu:", to, from, (long)r, r == (size_t)-1 ? strerrorname_np(errno) : "ok", n);
    for (char *c = out; c < o; c++)
        printf(" %02x", (unsigned char)*c);
    printf("\n"), iconv_close(cd);
}

int main(void)
{
    wchar_t w[32];
    char text[64];
    mbstate_t state = {0};
    printf("%s\n", setlocale(LC_ALL, NULL)), num(MB_CUR_MAX), num(mbtowc(w, "\303\251", 2)), printf("%s\n", nl_langinfo(CODESET)),
        is(setlocale(LC_ALL, "none") == NULL), printf("%s\n", setlocale(LC_CTYPE, "C.UTF-8")), printf("%s\n", setlocale(LC_ALL, "")),
        printf("%s %s\n", nl_langinfo(CODESET), nl_langinfo(RADIXCHAR)), num(MB_CUR_MAX);
    const char *all[] = {"a", "\303\251", "\342\202\254", "\360\237\230\200", "\303", "\200", "\300\200", "\355\240\200", "\364\220\200\200", "\377", ""};
    for (int i = 0; i < 11; i++) {
        memset(&state, 0, sizeof state), w[0] = 0x7777;
        long r = (long)mbrtowc(w, all[i], strlen(all[i]) + (i == 10), &state);
        printf("%d: %ld %#x initial %d length %d\n", i, r, w[0], !!mbsinit(&state), mblen(all[i], 4));
    }
    memset(&state, 0, sizeof state);
    for (int i = 0; i < 4; i++)
        printf("byte %d: %ld\n", i, (long)mbrtowc(w, all[3] + i, 1, &state));
    const wchar_t codes[] = {L'a', 0xe9, 0x20ac, 0x1f600, 0xd800, 0x110000, -1};
    for (int i = 0; i < 7; i++)
        memset(&state, 0, sizeof state),
            printf("%#x: %ld width %d alpha %d upper %#x\n", codes[i], (long)wcrtomb(text, codes[i], &state), wcwidth(codes[i]), !!iswalpha(codes[i]),
                towupper(codes[i]));
    num(mbstowcs(w, "h\303\251llo", 32)), num(wcslen(w)), num(wcstombs(text, w, 64)), num(mbstowcs(NULL, "h\303\251", 0)),
        num((long)mbstowcs(w, "\377", 4)), printf("%ls|%5ls|%.2ls|%lc\n", w, L"ab", L"abc", 0x20ac), num(wcscmp(L"a", L"b") < 0),
        num(wcstol(L"-42x", NULL, 10)), num(strcoll("a", "B") > 0), num(isalpha(0xe9)), num(toupper('z')), num(swprintf(w, 4, L"%d", 12345)),
        num(swprintf(w, 32, L"%ls-%s", L"wide", "narrow")), num((long)wcsxfrm(w, L"abc", 32));
    convert("UTF-16LE", "UTF-8", "a\303\251\360\237\230\200", 7), convert("UTF-8", "UTF-16BE", "\0a\xd8\x3d\xde\x00", 6),
        convert("ISO-8859-1", "UTF-8", "\303\251", 2), convert("ISO-8859-1", "UTF-8", "\342\202\254", 3),
        convert("ASCII//IGNORE", "UTF-8", "a\303\251b", 4), convert("UTF-8", "UTF-8", "a\303", 2), convert("UTF-8", "UTF-8", "a\377b", 3),
        convert("UTF-8", "ISO-8859-1", "\xe9\xff", 2), convert("UCS-4LE", "UTF-8", "\342\202\254", 3), convert("NONE", "UTF-8", "a", 1);
    struct lconv *l = localeconv();
    printf("'%s' '%s' %d\n", l->decimal_point, l->thousands_sep, l->frac_digits);
    locale_t c = newlocale(LC_ALL_MASK, "C", 0), u = newlocale(LC_ALL_MASK, "C.UTF-8", 0), old = uselocale(c);
    num(MB_CUR_MAX), uselocale(u), num(MB_CUR_MAX), uselocale(old), is(newlocale(LC_ALL_MASK, "none", 0) == 0 && errno == ENOENT), freelocale(c), freelocale(u);
    return 0;
}
