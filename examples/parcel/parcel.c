/* What it costs to send a parcel: parcel LABEL, where a label is a file of three bytes: the zone
 * that it goes to, how urgent it is, and how warm it may become (in degrees, signed). */
#include <stdio.h>

static const int zone_price[8] = {250, 310, 390, 480, 590, 720, 880, 1050};
static const int urgency_price[4] = {0, 150, 300, 700};
static const int cooling_price[31] = {900, 880, 860, 840, 820, 800, 780, 760, 740, 720, 700,
                                      670, 640, 610, 580, 550, 520, 490, 460, 430, 400,
                                      360, 320, 280, 240, 200, 160, 120, 80,  40,  0};

static int price_of_urgency(int urgency)
{
    if (urgency > 3) {
        if (urgency > 100)
            puts("by courier");
        urgency = 3;
    }
    return urgency_price[urgency];
}

static int price_of_cooling(int degrees)
{
    if (degrees > 30)
        degrees = 30;
    return cooling_price[degrees];
}

int main(int argc, char **argv)
{
    unsigned char label[3];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(label, 1, sizeof label, file) != sizeof label) {
        fputs("usage: parcel LABEL\n", stderr);
        return 2;
    }
    fclose(file);
    int cents = zone_price[label[0]];
    cents += price_of_urgency((signed char)label[1]);
    cents += price_of_cooling((signed char)label[2]);
    printf("%d.%02d\n", cents / 100, cents % 100);
    return 0;
}
