/* Multibyte and wide characters, collation and getopt against libc. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static unsigned char labels[64];
struct {
    const unsigned char *base;
    unsigned long mask;
} __nm_summary = {labels, sizeof labels - 1};

static unsigned long comparisons, failures;

static void expect(const char *what, int argument, long long model, long long real)
{
    comparisons++;
    if (model == real)
        return;
    if (failures++ < 30)
        printf("%s(%d): model %lld, libc %lld\n", what, argument, model, real);
}

size_t __nm_model_mbrtowc(wchar_t *, const char *, size_t, mbstate_t *);
size_t __nm_model_mbrlen(const char *, size_t, mbstate_t *);
size_t __nm_model_wcrtomb(char *, wchar_t, mbstate_t *);
size_t __nm_model_wcslen(const wchar_t *);
wchar_t *__nm_model_wcscpy(wchar_t *, const wchar_t *);
wchar_t *__nm_model_wcscat(wchar_t *, const wchar_t *);
int __nm_model_mbtowc(wchar_t *, const char *, size_t);
int __nm_model_mblen(const char *, size_t);
int __nm_model_strcoll(const char *, const char *);
size_t __nm_model_strxfrm(char *, const char *, size_t);

#define EACH(row)                                                                              \
    row(iswalnum) row(iswalpha) row(iswblank) row(iswcntrl) row(iswdigit) row(iswgraph)        \
    row(iswlower) row(iswprint) row(iswpunct) row(iswspace) row(iswupper) row(iswxdigit)       \
    row(towlower) row(towupper) row(btowc) row(wctob) row(wcwidth)
#define DECLARE(name) int __nm_model_##name(int);
EACH(DECLARE)

static void compare_characters(void)
{
    for (int c = -1; c < 600; c++) {
#define COMPARE(name) expect(#name, c, __nm_model_##name(c), (int)name(c));
        EACH(COMPARE)
    }
}

static void compare_bytes(void)
{
    for (int first = 0; first < 256; first++)
        for (int n = 0; n < 3; n++) {
            char text[3] = {(char)first, (char)0xa4, 0};
            mbstate_t model_state = {0}, real_state = {0};
            wchar_t model_to = 7, real_to = 7;
            expect("mbrtowc", first, (long long)__nm_model_mbrtowc(&model_to, text, n, &model_state),
                   (long long)mbrtowc(&real_to, text, n, &real_state));
            expect("mbrtowc's state", first, mbsinit(&model_state), mbsinit(&real_state));
            expect("mbrlen", first, (long long)__nm_model_mbrlen(text + 1, 1, &model_state),
                   (long long)mbrlen(text + 1, 1, &real_state));
            expect("mbtowc", first, __nm_model_mbtowc(&model_to, text, n), mbtowc(&real_to, text, n));
            expect("what mbtowc stores", first, model_to, real_to);
            mblen(NULL, 0);
            expect("mblen", first, __nm_model_mblen(text, n), mblen(text, n));
            mblen(NULL, 0);
            char model_bytes[16] = {0}, real_bytes[16] = {0};
            mbstate_t state = {0}, their_state = {0};
            expect("wcrtomb", first, (long long)__nm_model_wcrtomb(model_bytes, first, &state),
                   (long long)wcrtomb(real_bytes, first, &their_state));
            expect("what wcrtomb stores", first, memcmp(model_bytes, real_bytes, 16), 0);
        }
}

static void compare_wide_strings(void)
{
    static const wchar_t *const words[] = {L"", L"a", L"two words", L"\x20ac\x10000"};
    for (int i = 0; i < 4; i++) {
        wchar_t ours[16] = {9, 9, 9}, theirs[16] = {9, 9, 9};
        expect("wcslen", i, (long long)__nm_model_wcslen(words[i]), (long long)wcslen(words[i]));
        expect("wcscpy", i, __nm_model_wcscpy(ours, words[i]) - ours, wcscpy(theirs, words[i]) - theirs);
        expect("wcscat", i, __nm_model_wcscat(ours, L"end") - ours, wcscat(theirs, L"end") - theirs);
        expect("what wcscpy and wcscat store", i, memcmp(ours, theirs, sizeof ours), 0);
    }
}

static void compare_collation(void)
{
    static const char *const words[] = {"", "a", "b", "ab", "B", "a b", "\xc3\xa4", "z"};
    for (int i = 0; i < 64; i++) {
        const char *a = words[i / 8], *b = words[i % 8];
        int model = __nm_model_strcoll(a, b), real = strcoll(a, b);
        expect("strcoll", i, (model > 0) - (model < 0), (real > 0) - (real < 0));
        char ours[64], theirs[64];
        memset(ours, 'Q', 64), memset(theirs, 'Q', 64);
        size_t room = (size_t)i % 5 * 3;
        size_t length = __nm_model_strxfrm(ours, a, room);
        expect("strxfrm", i, (long long)length, (long long)strxfrm(theirs, a, room));
        if (length < room)
            expect("what strxfrm stores", i, memcmp(ours, theirs, 64), 0);
    }
}

int __nm_model_getopt(int, char *const *, const char *);
int __nm_model_getopt_long(int, char *const *, const char *, const struct option *, int *);
int __nm_model_getopt_long_only(int, char *const *, const char *, const struct option *, int *);

static const struct option names[] = {
    {"all", no_argument, NULL, 'a'}, {"count", required_argument, NULL, 'c'},
    {"colour", optional_argument, NULL, 1000}, {"also", no_argument, NULL, 1001}, {0}};

typedef int reader(int, char *const *, const char *, const struct option *, int *);

static int model_short(int count, char *const *words, const char *options, const struct option *n, int *i)
{
    return (void)n, (void)i, __nm_model_getopt(count, words, options);
}

static int real_short(int count, char *const *words, const char *options, const struct option *n, int *i)
{
    return (void)n, (void)i, getopt(count, words, options);
}

/* Everything a program sees of a command line, as text. */
static void read_all(reader *read, int count, char **given, const char *options, char *to)
{
    char *words[8];
    memcpy(words, given, sizeof words);
    optind = 0;
    int result;
    do {
        int name = -1;
        result = read(count, words, options, names, &name);
        /* libc keeps the last wrong option for ever. */
        int wrong = result == '?' || result == ':' ? optopt : 0;
        to += sprintf(to, "%d %d %s %d %d;", result, optind, optarg ? optarg : "-", wrong, name);
    } while (result != -1);
    for (int i = 0; i < count; i++)
        to += sprintf(to, " %s", words[i]);
}

static void compare_options(void)
{
    static const char *const words[] = {"-a", "-ab", "-c", "-c5", "x", "--", "--all", "--al", "--count=3", "--count",
                                        "--colour", "--colour=red", "-", "-z", "--zzz", "-all", "-bcx", "--all=3",
                                        "-Wall", "-W", "y"};
    static const char *const strings[] = {"abc:", "+abc:", "-abc:", ":abc:", "abc::W;", "ab"};
    static reader *const models[] = {model_short, __nm_model_getopt_long, __nm_model_getopt_long_only};
    static reader *const reals[] = {real_short, getopt_long, getopt_long_only};
    opterr = 0;
    unsigned seed = 1;
    for (int round = 0; round < 30000; round++) {
        char *given[8] = {"program"}, ours[2000], theirs[2000];
        int count = 1 + rand_r(&seed) % 7;
        for (int i = 1; i < count; i++)
            given[i] = (char *)words[rand_r(&seed) % (sizeof words / sizeof *words)];
        const char *options = strings[rand_r(&seed) % 6];
        int family = rand_r(&seed) % 3;
        read_all(models[family], count, given, options, ours);
        read_all(reals[family], count, given, options, theirs);
        expect(theirs, family, strcmp(ours, theirs), 0);
    }
}

int main(void)
{
    memset(labels, 1, sizeof labels);
    static const char *const locales[] = {"C", "C.UTF-8"};
    for (int locale = 0; locale < 2; locale++) {
        if (setlocale(LC_ALL, locales[locale]) == NULL)
            continue;
        compare_characters();
        compare_bytes();
        compare_wide_strings();
        compare_collation();
    }
    compare_options();
    if (failures == 0)
        printf("%lu comparisons agree\n", comparisons);
    return failures != 0;
}
