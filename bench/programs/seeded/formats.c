// Binary formats: lengths, offsets, checksums, versions.
#include "seeded.h"

static unsigned u16(size_t at) { return (unsigned char)text[at] | (unsigned char)text[at + 1] << 8; }

// A length that is larger than what follows.
SEEDED(tlv, "", "\x01\x02xy\x02\x01z", "", "\x01\x7fxy")
{
    slurp();
    unsigned char *all = malloc(size ? size : 1);
    memcpy(all, text, size);
    unsigned sum = 0;
    for (size_t at = 0; at + 2 <= size; at += 2 + all[at + 1])
        for (unsigned i = 0; i < all[at + 1]; i++)
            sum += all[at + 2 + i];
    return sum == 7;
}

// A picture of no width, behind a magic number.
SEEDED(picture, "", "IMG1\x04\x00\x03\x00", "", "IMG2\x00\x00\x03\x00")
{
    slurp();
    if (size < 8 || memcmp(text, "IMG", 3) != 0)
        return 1;
    unsigned width = u16(4), height = u16(6);
    if (text[3] == '1' && (width == 0 || height == 0))
        return 1;
    if (text[3] != '1' && text[3] != '2')
        return 1;
    return 1000 / width == height;
}

// A checksum guards what fails.
SEEDED(checksummed, "", "\x02\x03\x05zz", "", "\x51\x10\x61zz")
{
    slurp();
    if (size < 3 || (unsigned char)(text[0] + text[1]) != (unsigned char)text[2])
        return 1;
    char names[4][4] = {"abc", "def", "ghi", "jkl"};
    if ((text[0] & 0xf0) == 0x50)
        return names[text[1] & 0x1f][0];
    return 0;
}

// An offset that points before the header's end is allowed in version 3.
SEEDED(offset, "", "V1\x04\x00hello", "", "V3\xff\xffhello")
{
    slurp();
    char *copy = malloc(size + 1);
    memcpy(copy, text, size + 1);
    if (size < 5 || copy[0] != 'V')
        return 1;
    unsigned at = u16(2);
    if (copy[1] != '3' && at >= size)
        return 1;
    return copy[at];
}

// Run lengths whose sum is more than the row.
SEEDED(run_lengths, "", "\x03" "a\x02" "b", "", "\x0f" "a\x0f" "b")
{
    char row[20];
    unsigned at = 0;
    int count, value;
    while ((count = getchar()) != EOF && (value = getchar()) != EOF) {
        if (count > 15)
            return 1;
        while (count-- > 0)
            row[at++] = (char)value;
    }
    return at > 0 && row[0] == 'z';
}

// A record count that is multiplied in sixteen bits.
SEEDED(narrow_product, "", "\x02\x00\x02\x00", "", "\x00\x10\x10\x00")
{
    slurp();
    if (size < 4)
        return 1;
    unsigned count = u16(0), each = u16(2);
    if (count > 5000 || each > 64 || each == 0)
        return 1;
    uint16_t bytes = (uint16_t)(count * each);
    char *records = malloc(bytes + 1u);
    memset(records, 0, count * each);
    free(records);
    return 0;
}

// A bit field that is shifted by its own width.
SEEDED(bit_width, "", "\x08\xff", "", "\x20\xff")
{
    slurp();
    if (size < 2)
        return 1;
    unsigned width = (unsigned char)text[0];
    if (width > 32)
        return 1;
    int mask = 1 << width;
    return mask == text[1];
}

// The last chunk has to be of type E; one that is of type D and has no bytes is dereferenced.
SEEDED(chunks, "", "A\x01xB\x02yzE\x00", "", "D\x00")
{
    slurp();
    char *data = NULL;
    for (size_t at = 0; at + 2 <= size && text[at] != 'E'; at += 2 + (unsigned char)text[at + 1]) {
        unsigned length = (unsigned char)text[at + 1];
        if (at + 2 + length > size)
            return 1;
        data = length ? &text[at + 2] : NULL;
        if (text[at] == 'D')
            printf("%c\n", data[0]);
    }
    return 0;
}
