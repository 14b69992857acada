// How many characters this has, if it is UTF-8. By tables: a class for each byte, a state for each state and class.
enum { OK, BAD, ONE, TWO, THREE, E0, ED, F0, F4, STATES };
enum { ASCII, LOW, MIDDLE, HIGH, LEAD2, LEAD_E0, LEAD3, LEAD_ED, LEAD_F0, LEAD4, LEAD_F4, OTHER, CLASSES };

static const struct {
    unsigned char last, class;
} ranges[] = {
    {0x7f, ASCII}, {0x8f, LOW},   {0x9f, MIDDLE},   {0xbf, HIGH},    {0xc1, OTHER},   {0xdf, LEAD2}, {0xe0, LEAD_E0},
    {0xec, LEAD3}, {0xed, LEAD_ED}, {0xef, LEAD3}, {0xf0, LEAD_F0}, {0xf3, LEAD4}, {0xf4, LEAD_F4}, {0xff, OTHER},
};

static const unsigned char next[STATES][CLASSES] = {
    [OK] = {OK, BAD, BAD, BAD, ONE, E0, TWO, ED, F0, THREE, F4, BAD},
    [BAD] = {BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [ONE] = {BAD, OK, OK, OK, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [TWO] = {BAD, ONE, ONE, ONE, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [THREE] = {BAD, TWO, TWO, TWO, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [E0] = {BAD, BAD, BAD, ONE, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [ED] = {BAD, ONE, ONE, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [F0] = {BAD, BAD, TWO, TWO, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
    [F4] = {BAD, TWO, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD},
};

int count_utf8(const unsigned char *text, int n)
{
    unsigned char classes[256], state = OK;
    int count = 0;
    for (int byte = 0, range = 0; byte < 256; byte++) {
        range += byte > ranges[range].last;
        classes[byte] = ranges[range].class;
    }
    for (int i = 0; i < n; i++) {
        state = next[state][classes[text[i]]];
        if (state == BAD)
            return -1;
        if (state == OK)
            count++;
    }
    return state == OK ? count : -1;
}
