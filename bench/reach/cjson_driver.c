/* Entry functions for `nearmiss reach` in cJSON: its parsers are static, so the file is included. */
#include "cJSON.c"

/* One or two literals of the form \uXXXX, up to 12 bytes. */
int drive_utf16(const unsigned char *text, int n)
{
    unsigned char buffer[8], *output = buffer;

    return utf16_literal_to_utf8(text, text + n, &output);
}

/* A buffer of n bytes before which the parser may skip. */
unsigned long drive_skip(const unsigned char *text, int n)
{
    parse_buffer buffer = { 0, 0, 0, 0, { 0, 0, 0 } };

    buffer.content = text;
    buffer.length = (size_t)n;
    buffer.hooks = global_hooks;
    if (skip_utf8_bom(&buffer) == NULL)
        return 0;
    buffer_skip_whitespace(&buffer);
    return buffer.offset;
}
