//@ command = "nearmiss explore lost_file_name.c --function readable"
//@ incomplete = "input data was lost"
// Which file is there is no condition on the name that a solver knows.
#include <fcntl.h>
#include <unistd.h>

int readable(char letter)
{
    char name[2] = {letter, 0};
    int file = open(name, O_RDONLY);
    if (file < 0)
        return 0;
    close(file);
    return 1;
}
