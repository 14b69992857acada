// Four letters of base64 become up to three bytes; what is no letter, or '=' in a wrong place, is refused.
static int value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    if (c == '/')
        return 63;
    return -1;
}

int decode(const unsigned char *text, unsigned char *bytes)
{
    int values[4], count = 4;
    for (int i = 0; i < 4; i++) {
        if (text[i] == '=' && i >= 2 && count > i)
            count = i;
        values[i] = count > i ? value(text[i]) : 0;
        if (values[i] < 0 || (count <= i && text[i] != '='))
            return -1;
    }
    bytes[0] = values[0] << 2 | values[1] >> 4;
    bytes[1] = (values[1] & 15) << 4 | values[2] >> 2;
    bytes[2] = (values[2] & 3) << 6 | values[3];
    return count - 1;
}
