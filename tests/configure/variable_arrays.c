// Variable arrays.
static int f(int n)
{
    int a[n];
    a[n - 1] = n;
    return a[n - 1];
}
int main(void)
{
    return f(7) != 7;
}
