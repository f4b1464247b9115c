// A program whose library uses Troupe, and which does not know of it.
int run_consumer();

int main() { return run_consumer(); }
