//@ command = "nearmiss explore enumeration.c --function weight"
//@ paths = 3
// An enumeration has the values that have names: nothing goes to the end of the function.
enum colour { RED = 1, GREEN = 20, BLUE = 300 };

int weight(enum colour colour)
{
    switch (colour) {
    case RED:
        return 3;
    case GREEN:
        return 6;
    case BLUE:
        return 1;
    }
    return 0;
}
