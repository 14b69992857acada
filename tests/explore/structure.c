//@ command = "nearmiss explore structure.c --function width"
//@ paths = 5
// Not a polygon; otherwise two comparisons.
struct point {
    short x, y;
};

struct shape {
    enum { CIRCLE, POLYGON } kind;
    struct point corners[2];
};

int width(struct shape shape)
{
    if (shape.kind != POLYGON)
        return -1;
    int left = shape.corners[0].x, right = shape.corners[0].x;
    if (shape.corners[1].x < left)
        left = shape.corners[1].x;
    if (shape.corners[1].y < shape.corners[0].y)
        right = shape.corners[1].x;
    return right - left;
}
