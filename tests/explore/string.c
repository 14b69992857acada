//@ command = "nearmiss explore string.c --function length --string text=3"
//@ paths = 4
int length(const char *text)
{
    int length = 0;
    while (text[length])
        length++;
    return length;
}
