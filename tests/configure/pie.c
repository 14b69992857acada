// Pie.
// options: -fPIE -pie
int main(void)
{
    return 0;
}
