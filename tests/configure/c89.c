// C89.
// options: -std=c89 -pedantic-errors
int main(void)
{
    for (int i = 0; i < 1; i++) ;
    return 0;
}
