/* Structures, unions, enumerations, floating-point numbers, globals. */
#include <stdbool.h>

enum color { RED, GREEN = 5, BLUE };

typedef struct {
    double x, y;
} point;

struct shape {
    enum color color;
    bool filled;
    unsigned flags : 3;
    point corners[2];
    union {
        float radius;
        unsigned short sides;
    };
    const char *name;
    __int128 wide;
    long double weight;
};

int moved;
static struct { unsigned long long total; int history[8]; } statistics;

static struct shape move(struct shape shape, enum color color, float by, char letter)
{
    if (shape.color == color)
        moved++;
    statistics.total--;
    statistics.history[letter & 7] = letter;
    shape.corners[0].x += (double)by;
    shape.color = color;
    shape.flags++;
    return shape;
}
