/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * An engine that knows nothing of varve and marks its work for NVTX tools: nvtx_engine CASE. What each case
 * does is what its test expects.
 */
#include <nvtx3/nvToolsExt.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static nvtxEventAttributes_t event(void) {
  nvtxEventAttributes_t e;
  memset(&e, 0, sizeof e);
  e.version = NVTX_VERSION;
  e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return e;
}

static nvtxEventAttributes_t text_event(const char* text) {
  nvtxEventAttributes_t e = event();
  e.messageType = NVTX_MESSAGE_TYPE_ASCII;
  e.message.ascii = text;
  return e;
}

/* Two passes of two layers each: one with a prefill, one with a decode. */
static void passes(void) {
  static const char* const kinds[] = {"prefill", "decode"};
  for (int pass = 0; pass < 2; ++pass) {
    nvtxRangePushA(kinds[pass]);
    for (int layer = 0; layer < 2; ++layer) {
      char name[16];
      snprintf(name, sizeof name, "layer_%d", layer);
      nvtxRangePushA(name);
      nvtxRangePop();
    }
    nvtxRangePop();
  }
}

/* Every way to name a range. */
static void names(void) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
  const nvtxDomainHandle_t other = nvtxDomainCreateW(L"other");
  const nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered.7");
  const nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"wide_r\u00E9gistr\u00E9");
  nvtxEventAttributes_t e = event();
  e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  e.message.registered = registered;
  nvtxDomainRangePushEx(domain, &e);
  nvtxDomainRangePop(domain);
  e.message.registered = wide;
  e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  e.payload.iValue = 12;
  nvtxDomainRangePushEx(domain, &e);
  nvtxDomainRangePop(domain);
  e = text_event("payload");
  e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  e.payload.ullValue = 3;
  nvtxRangePushEx(&e);
  nvtxRangePop();
  e = text_event("rate");
  e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  e.payload.dValue = 3;
  nvtxRangePushEx(&e);
  nvtxRangePop();
  nvtxRangePushW(L"\u5C42-5");
  nvtxRangePop();
  nvtxMarkA("a mark");
  /* Domains nest for themselves: the first pop ends the outer range. */
  e = text_event("outer");
  nvtxDomainRangePushEx(domain, &e);
  e = text_event("inner");
  nvtxDomainRangePushEx(other, &e);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(other);
  nvtxRangePop(); /* one too many */
  e = event();
  nvtxRangePushEx(&e); /* without a name */
  nvtxRangePop();
  nvtxRangePushA("execute_context_0(0)_generation_4(4)"); /* a pass of vLLM's */
  nvtxRangePop();
}

static void* end_range(void* id) {
  nvtxRangeEnd(*(nvtxRangeId_t*)id);
  return NULL;
}

/* Ranges that start and end in any order, one of them on another thread. */
static void starts(void) {
  const nvtxRangeId_t first = nvtxRangeStartA("first");
  const nvtxRangeId_t second = nvtxRangeStartA("second");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxRangeId_t elsewhere = nvtxRangeStartW(L"elsewhere");
  pthread_t thread;
  pthread_create(&thread, NULL, end_range, &elsewhere);
  pthread_join(thread, NULL);
  nvtxRangePushA("after"); /* no part of it any more */
  nvtxRangePop();
}

static void* work(void* name) {
  for (int i = 0; i < 100; ++i) {
    nvtxRangePushA(name);
    nvtxRangePushA("part");
    nvtxRangePop();
    nvtxRangePop();
  }
  return NULL;
}

static void threads(void) {
  static char names[4][8] = {"a", "b", "c", "d"};
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) {
    pthread_create(&all[i], NULL, work, names[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(all[i], NULL);
  }
}

/* 600 deep, of which 512 fit. */
static void deep(void) {
  for (int i = 0; i < 600; ++i) {
    nvtxRangePushA("deep");
  }
  for (int i = 0; i < 600; ++i) {
    nvtxRangePop();
  }
  nvtxRangePushA("after");
  nvtxRangePop();
}

/* Of this process, with this end. */
static const char* result_file(const char* suffix) {
  static char path[4096];
  const char* folder = getenv("VARVE_RUN_FOLDER");
  snprintf(path, sizeof path, "%s/%d.0.%s", folder != NULL ? folder : "", (int)getpid(), suffix);
  return path;
}

static void wait_for(const char* suffix) {
  struct stat about;
  const struct timespec moment = {0, 1000000};
  while (stat(result_file(suffix), &about) != 0) {
    nanosleep(&moment, NULL);
  }
}
static void wait_for_snapshot(void) { wait_for("snapshot.report.json"); }

/* Makes a report of which the writing takes a while. */
static void many_labels(void) {
  for (int i = 0; i < 5000; ++i) {
    char name[16];
    snprintf(name, sizeof name, "many_%d", i);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

static pthread_t main_thread;

/* While the report is written, which another thread has asked for, ends the process at once. */
static void* end_again(void* what) {
  wait_for("report.json.part");
  if (strcmp(what, "term-hup") == 0) {
    raise(SIGHUP);
  } else if (strcmp(what, "return-segv") == 0) {
    raise(SIGSEGV);
  } else if (strcmp(what, "return-exec") == 0) {
    execl("/bin/true", "true", (char*)NULL);
  } else if (strcmp(what, "return-exit") == 0) {
    _exit(0);
  } else { /* "return-term" */
    pthread_kill(main_thread, SIGTERM);
  }
  return NULL;
}

/* Of a module that came after the first range. The second snapshot in the loop began after that. */
static void exit_in_plugin(const char* path) {
  void* library = dlopen(path != NULL ? path : "", RTLD_NOW);
  void (*leave)(void) = NULL;
  if (library != NULL) {
    *(void**)&leave = dlsym(library, "leave");
  }
  if (leave == NULL) {
    abort();
  }
  for (int i = 0; i < 2; ++i) {
    wait_for_snapshot();
    unlink(result_file("snapshot.report.json"));
    nvtxRangePushA("later");
    nvtxRangePop();
  }
  wait_for_snapshot();
  nvtxRangePushA("last");
  nvtxRangePop();
  leave();
}

/* As a disk that is full. */
static void allow_files_of(rlim_t bytes) {
  const struct rlimit limit = {bytes, bytes};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* In the place of a report. */
static void write_nonsense(void) {
  FILE* file = fopen(result_file("report.json"), "w");
  if (file == NULL || fputs("{\"varve_report\": 1, \"spoilt", file) < 0 || fclose(file) != 0) {
    abort();
  }
}

/* Of glibc, from 2.34 on. */
extern int execveat(int, const char*, char* const[], char* const[], int) __attribute__((weak));
extern char** environ;

static void become_at(char* path) {
  char* const arguments[] = {path, (char*)"passes", NULL};
  if (execveat != NULL) {
    execveat(AT_FDCWD, path, arguments, environ, 0);
  } else {
    execve(path, arguments, environ);
  }
}

static void crash(void) {
  volatile int* volatile nowhere = NULL;
  *nowhere = 1;
}

/* Until the stack is full. */
static int overflow(volatile int depth) {
  volatile char much[4096];
  much[0] = (char)depth;
  return depth < 0 ? 0 : overflow(depth + 1) + much[0];
}

static void* overflow_on_thread(void* unused) {
  passes();
  return overflow(0) == 0 ? unused : NULL;
}

/* Signal stacks of the engine's own, set before and after its first range, are left alone. Others last as
 * long as their thread. */
static void* own_stack(void* after) {
  static char memory[65536];
  const stack_t mine = {.ss_sp = memory, .ss_size = sizeof memory};
  stack_t now;
  if (after != NULL) {
    passes();
  }
  sigaltstack(&mine, &now);
  if (after == NULL ? (now.ss_flags & SS_DISABLE) == 0 : (now.ss_flags & SS_DISABLE) != 0) {
    abort();
  }
  passes();
  sigaltstack(NULL, &now);
  if (now.ss_sp != mine.ss_sp || now.ss_flags != 0) {
    abort();
  }
  return NULL;
}

static void on_thread(void* (*what)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, what, argument);
  pthread_join(thread, NULL);
}

static void handler(int signal) {
  (void)signal;
  static const char text[] = "the engine's own handler\n";
  if (write(STDOUT_FILENO, text, sizeof text - 1) > 0) {
    _exit(9);
  }
}

static void fork_child(void) {
  passes();
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    exit(0);
  }
  waitpid(child, NULL, 0);
  nvtxRangePushA("parent");
  nvtxRangePop();
}

static void fork_quiet(void) {
  passes();
  const pid_t child = fork();
  if (child == 0) {
    exit(0); /* marks nothing */
  }
  waitpid(child, NULL, 0);
}

/* What the CUDA driver does when it is initialised. */
static void initialise_driver(void) {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = dlopen(path != NULL ? path : "", RTLD_NOW);
  int (*initialise)(void) = NULL;
  if (library != NULL) {
    *(void**)&initialise = dlsym(library, "InitializeInjection");
  }
  if (initialise == NULL || initialise() != 1) {
    abort();
  }
}

/* What a library of NVTX 1 does: its table has the oldest functions alone, and says nothing of its version.
 */
static NvtxFunctionPointer old_push;
static NvtxFunctionPointer old_pop;
static NvtxFunctionPointer* old_functions[NVTX_CBID_CORE_RangePop + 1];

static int NVTX_API old_table_of(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned int* size) {
  if (module != NVTX_CB_MODULE_CORE) {
    return 0;
  }
  old_functions[NVTX_CBID_CORE_RangePushA] = &old_push;
  old_functions[NVTX_CBID_CORE_RangePop] = &old_pop;
  *table = old_functions;
  *size = NVTX_CBID_CORE_RangePop + 1;
  return 1;
}

static const void* NVTX_API old_exports(uint32_t id) {
  static const NvtxExportTableCallbacks callbacks = {sizeof(NvtxExportTableCallbacks), old_table_of};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void old_nvtx(void) {
  const char* path = getenv("NVTX_INJECTION64_PATH");
  void* library = dlopen(path != NULL ? path : "", RTLD_NOW);
  NvtxInitializeInjectionNvtxFunc_t initialise = NULL;
  if (library != NULL) {
    *(void**)&initialise = dlsym(library, "InitializeInjectionNvtx");
  }
  if (initialise == NULL || initialise(old_exports) != 1 || old_push == NULL || old_pop == NULL) {
    abort();
  }
  ((int(NVTX_API*)(const char*))old_push)("prefill");
  ((int(NVTX_API*)(const char*))old_push)("layer_0");
  ((int(NVTX_API*)(void))old_pop)();
  ((int(NVTX_API*)(void))old_pop)();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "handled") == 0) {
    signal(SIGSEGV, handler);
  } else if (strcmp(what, "ignored") == 0) {
    signal(SIGTERM, SIG_IGN);
  }
  if (strcmp(what, "passes") == 0) {
    passes();
    puts("the engine's output");
  } else if (strcmp(what, "names") == 0) {
    names();
  } else if (strcmp(what, "starts") == 0) {
    starts();
  } else if (strcmp(what, "threads") == 0) {
    threads();
  } else if (strcmp(what, "deep") == 0) {
    deep();
  } else if (strcmp(what, "old") == 0) {
    old_nvtx();
  } else if (strcmp(what, "driver") == 0) {
    initialise_driver();
    passes();
  } else if (strcmp(what, "driver-alone") == 0) {
    initialise_driver();
  } else if (strcmp(what, "fork") == 0) {
    fork_child();
  } else if (strcmp(what, "fork-quiet") == 0) {
    fork_quiet();
  } else if (strcmp(what, "overflow-thread") == 0) {
    on_thread(overflow_on_thread, NULL);
  } else if (strcmp(what, "own-stack") == 0) {
    for (int i = 0; i < 3; ++i) {
      on_thread(own_stack, NULL);
      on_thread(own_stack, argv);
    }
  } else if (strcmp(what, "nothing") == 0) {
    return 5;
  } else {
    passes();
    if (strcmp(what, "segv") == 0 || strcmp(what, "handled") == 0) {
      crash();
    } else if (strcmp(what, "overflow") == 0) {
      return overflow(0);
    } else if (strcmp(what, "abort") == 0) {
      abort();
    } else if (strcmp(what, "term") == 0 || strcmp(what, "ignored") == 0) {
      raise(SIGTERM);
      return 6;
    } else if (strcmp(what, "alarm") == 0) {  // a signal that the kernel sends
      const struct itimerval soon = {{0, 0}, {0, 1000}};
      setitimer(ITIMER_REAL, &soon, NULL);
      for (;;) {
        pause();
      }
    } else if (strncmp(what, "raise-", 6) == 0) {
      raise(atoi(what + 6));
    } else if (strcmp(what, "kill") == 0) {
      wait_for_snapshot();
      kill(getpid(), SIGKILL);
    } else if (strcmp(what, "spoil") == 0) {
      write_nonsense();
      kill(getpid(), SIGKILL);
    } else if (strcmp(what, "trace-alone") == 0) {
      wait_for("snapshot.trace.json"); /* which comes after the report */
      unlink(result_file("snapshot.report.json"));
      kill(getpid(), SIGKILL);
    } else if (strcmp(what, "full") == 0) {
      allow_files_of(16);
    } else if (strcmp(what, "full-late") == 0) {
      wait_for_snapshot();
      allow_files_of(16);
      nvtxRangePushA("late");
      nvtxRangePop();
    } else if (strncmp(what, "term-", 5) == 0 || strncmp(what, "return-", 7) == 0) {
      many_labels();
      main_thread = pthread_self();
      pthread_t second;
      pthread_create(&second, NULL, end_again, argv[1]);
      if (what[0] == 't') {
        raise(SIGTERM);
      }
    } else if (strcmp(what, "_exit-later") == 0) {
      exit_in_plugin(getenv("ENGINE_PLUGIN"));
    } else if (strcmp(what, "_exit") == 0) {
      _exit(7);
    } else if (strcmp(what, "quick_exit") == 0) {
      quick_exit(8);
    } else if (strcmp(what, "exec") == 0) {
      execl(argv[0], argv[0], "passes", (char*)NULL);
    } else if (strcmp(what, "exec-at") == 0) {
      become_at(argv[0]);
    } else if (strcmp(what, "to-parent") == 0) { /* which passes it back */
      kill(getppid(), SIGTERM);
      for (;;) {
        pause();
      }
    }
  }
  return 0;
}
