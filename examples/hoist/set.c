unsigned int array[10];

void set(unsigned int i, unsigned int x)
{
    if (x == 100 && i <= 10)
        array[i] = x;
}
