// The program of a pod's sandbox container: holds the namespaces, reaps orphans, ends when told.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void stop(int signal) { _exit(0); }

static void reap(int signal) {
  while (waitpid(-1, 0, WNOHANG) > 0) {
  }
}

int main(void) {
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
