// A shared object like any other: it exports something, but not what makes a plugin.
extern "C" __attribute__((visibility("default"))) int not_a_plugin() { return 1; }
