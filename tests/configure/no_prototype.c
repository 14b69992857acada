// No prototype.
// options: -std=gnu89
int main()
{
    exit(strlen("abc") - 3);
}
