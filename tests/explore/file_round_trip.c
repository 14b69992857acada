//@ command = "nearmiss explore file_round_trip.c --function through"
//@ paths = 44
// What is read back from an own file is what was written, here as text.
#include <stdio.h>

int through(int x)
{
    int y = 0;
    FILE *file = tmpfile();
    if (file == NULL)
        return -1;
    fwrite(&x, sizeof x, 1, file);
    rewind(file);
    if (fscanf(file, "%d", &y) != 1)
        y = 1;
    fclose(file);
    if (y == 42)
        return 1;
    return 0;
}
