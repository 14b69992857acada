void set(unsigned int i, unsigned int x);

int main(void)
{
    set(1, 0);
    set(3, 100);
    return 0;
}
