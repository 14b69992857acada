// Encodings: base64, UTF-8, hexadecimal, percent, Morse.
#include "seeded.h"

// A percent sign with one digit behind it.
SEEDED(percent, "a%41b", "", "ab%4", "")
{
    char *in = argc > 1 ? strdup(argv[1]) : NULL;
    if (!in)
        return 1;
    size_t n = strlen(in);
    for (size_t i = 0; i < n; i++) {
        if (in[i] == '%' && isxdigit((unsigned char)in[i + 1])) {
            int value = 0;
            for (int j = 1; j <= 2; j++)
                value = value * 16 + (in[i + j] & 15);
            putchar(value);
            i += in[i + 2] ? 2 : 3;
            if (in[i] == 0 && i > n)
                puts("end");
        } else {
            putchar(in[i]);
        }
    }
    return 0;
}

// UTF-8: the length table has no row for a continuation byte.
SEEDED(utf8_lengths, "abc", "", "a\x80", "")
{
    static const signed char lengths[16] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4};
    int characters = 0, parts[3];
    for (const char *s = argc > 1 ? argv[1] : ""; *s;) {
        int length = lengths[(unsigned char)*s >> 4];
        parts[length - 1 < 0 ? 3 : 0] = length;
        characters++;
        for (int i = 0; i < (length ? length : 1) && *s; i++)
            s++;
    }
    return characters == 1000 && parts[0];
}

// Base64: padding in the middle.
SEEDED(base64, "YWJj", "", "YW=j", "")
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *s = argc > 1 ? argv[1] : "";
    if (strlen(s) % 4)
        return 1;
    for (; *s; s += 4) {
        unsigned bits = 0;
        for (int i = 0; i < 4; i++) {
            const char *found = s[i] == '=' && i > 1 ? NULL : strchr(alphabet, s[i]);
            if (!found && s[i] != '=')
                return 1;
            if (!found && i == 2 && s[3] != '=')
                bits = *found;
            bits = bits << 6 | (found ? (unsigned)(found - alphabet) : 0);
        }
        printf("%u\n", bits);
    }
    return 0;
}

// Morse: six signs are one more than a letter has.
SEEDED(morse, ".- -...", "", "......", "")
{
    char tree[63] = "  etianmsurwdkgohvf l pjbxcyzq";
    int at = 1;
    for (const char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (*s == ' ')
            at = 1;
        else if (*s == '.' || *s == '-')
            at = 2 * at + (*s == '-');
        if (tree[at] == '*')
            return 1;
    }
    return 0;
}

// An escape of three octal digits that is more than a byte.
SEEDED(octal, "a\\101", "", "\\777", "")
{
    static unsigned char counts[256];
    for (const char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (*s != '\\')
            continue;
        int value = 0, digits = 0;
        while (digits < 3 && s[1] >= '0' && s[1] <= '7') {
            value = value * 8 + *++s - '0';
            digits++;
        }
        counts[value]++;
    }
    return 0;
}

// A hexadecimal colour in its short form.
SEEDED(colour, "#102030", "", "#12", "")
{
    char *s = argc > 1 ? strdup(argv[1]) : NULL;
    if (!s || s[0] != '#')
        return 1;
    int parts[3], n = strlen(s + 1) / 2;
    for (int i = 0; i < n; i++) {
        char two[3] = {s[1 + 2 * i], s[2 + 2 * i], 0};
        parts[i < 3 ? i : 0] = (int)strtol(two, NULL, 16);
    }
    int grey = parts[0];
    if (n < 3 && n > 0)
        grey = 1000 / (n - 1);
    return grey == 77;
}

// A code word of Elias whose zeros are more than a number has bits.
SEEDED(elias, "0010100", "", "0000000000000000000000000000000000001", "")
{
    const char *s = argc > 1 ? argv[1] : "";
    int zeros = 0;
    while (*s == '0')
        zeros++, s++;
    if (*s != '1')
        return 1;
    int value = 1 << zeros;
    return value == 5;
}

// Caesar: a shift by a negative key leaves the alphabet.
SEEDED(caesar, "3 abc", "", "-3 abc", "")
{
    static const char alphabet[26] = "abcdefghijklmnopqrstuvwxyz";
    int key;
    char word[16];
    if (argc < 2 || sscanf(argv[1], "%d %15s", &key, word) != 2 || key > 25 || key < -25)
        return 1;
    for (char *s = word; *s; s++)
        if (*s >= 'a' && *s <= 'z')
            putchar(alphabet[(*s - 'a' + key) % 26]);
    return 0;
}
