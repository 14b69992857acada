// No pie.
// options: -no-pie
int main(void)
{
    return 0;
}
