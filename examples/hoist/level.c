/* Keeps a level between 0 and 12, each in its own place. */
void set(unsigned int i, unsigned int x);

void level(unsigned int height)
{
    if (height <= 12)
        set(height, 100);
}
