/* How urgent a message is, by its exclamation marks. */
const char *mood(const char *message);
