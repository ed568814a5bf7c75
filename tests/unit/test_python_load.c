/* plugins/python: finding and loading the app, virtualenvs, forks, the end. A process has one
 * interpreter, so each case runs in a process of its own, which says all that it sees in a file. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app_host.h"
#include "base/alloc.h"

/* What a case does with the loaded app before it unloads it. */
typedef void (*act_function)(struct app_host *host);

struct load_case {
    const char *options[6][2];
    act_function act; /* NULL: one request, its body is said */
};

static char folder[] = "/tmp/ccloadXXXXXX";
static struct cc_buf said; /* of the last case */

static void write_file(const char *name, const char *text)
{
    char *path = cc_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static void make_folder(const char *name)
{
    char *path = cc_format("%s/%s", folder, name);
    mkdir(path, 0755);
    free(path);
}

static void say_answer(struct app_host *host, void *thread)
{
    struct answer answer;
    struct ask ask = {0};

    answer_init(&answer);
    app_host_ask(host, thread, &ask, &answer);
    dprintf(STDERR_FILENO, "%d %s\n%s", answer.status, cc_buf_text(&answer.body),
            cc_buf_text(&answer.log));
    answer_clear(&answer);
}

static void run_child(const struct load_case *one)
{
    struct app_host host;

    app_host_open(&host, "python");
    for (size_t i = 0; i < 6 && one->options[i][0] != NULL; i++)
        app_host_set(&host, one->options[i][0], one->options[i][1]);
    if (!app_host_load(&host, 2, 2))
        dprintf(STDERR_FILENO, "refused: %s\n", host.err.text);
    else if (one->act == NULL)
        say_answer(&host, host.thread);
    else
        one->act(&host);
    dprintf(STDERR_FILENO, "%s", app_host_log());
    app_host_close(&host);
    dprintf(STDERR_FILENO, "over\n");
}

/* Runs the case and fills said. The child must end well. */
static void run_case(const struct load_case *one)
{
    int file = memfd_create("said", MFD_CLOEXEC), status = 0;

    assert_true(file >= 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60); /* a hang is a failure */
        if (chdir(folder) != 0)
            _exit(9);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        run_child(one);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    cc_buf_clear(&said);
    off_t size = lseek(file, 0, SEEK_END);
    said.len = (size_t)pread(file, cc_buf_reserve(&said, (size_t)size + 1), (size_t)size, 0);
    close(file);
    if (status != 0)
        fail_msg("the case ended with status 0x%x and said: %s", status, cc_buf_text(&said));
}

static void says(const struct load_case *one, const char *first, const char *second)
{
    run_case(one);
    if (strstr(cc_buf_text(&said), first) == NULL)
        fail_msg("no \"%s\" in: %s", first, cc_buf_text(&said));
    if (second != NULL && strstr(cc_buf_text(&said), second) == NULL)
        fail_msg("no \"%s\" in: %s", second, cc_buf_text(&said));
}

#define CASE(...) (&(struct load_case){.options = {__VA_ARGS__}})

static void modules_are_found(void **state)
{
    (void)state;
    says(CASE({"module", "good"}), "200 application\n", "over\n");
    says(CASE({"module", "good:other"}), "200 other\n", "over\n");
    says(CASE({"module", "good"}, {"callable", "other"}), "200 other\n", NULL);
    says(CASE({"module", "good:application"}, {"callable", "other"}), "200 application\n", NULL);
    says(CASE({"module", "good:make()"}), "200 made\n", NULL);
    says(CASE({"module", "good:holder.app"}), "200 held\n", NULL);
    says(CASE({"module", "pkg.inner:app"}), "200 pkg.inner\n", NULL);
}

static void files_are_found(void **state)
{
    char *path = cc_format("%s/with-dash.py", folder);
    (void)state;

    says(CASE({"wsgi-file", "with-dash.py"}), "200 uwsgi_file_with_dash ", "/with-dash.py\n");
    says(CASE({"file", path}), "200 uwsgi_file__tmp_ccload", "/with-dash.py\n");
    says(CASE({"wsgi-file", "site.wsgi"}), "200 uwsgi_file_site_wsgi", "/site.wsgi\n");
    says(CASE({"wsgi-file", "good.py"}, {"callable", "other"}), "200 other\n", NULL);
    says(CASE({"wsgi-file", "with-dash.py"}, {"module", "good"}), "200 application\n",
         "both module = good and wsgi-file = with-dash.py are set");
    says(CASE({"wsgi-file", "latin.py"}), "200 \xc3\xa4\n", NULL);
    free(path);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;

    says(CASE({NULL}), "refused: no app is named: set \"module =", NULL);
    says(CASE({"module", "absent"}),
         "refused: module: there is no Python module \"absent\" (a file absent.py or a package); "
         "searched in sys.path = ['.', '",
         folder);
    says(CASE({"module", "pkg.absent:app"}), "there is no Python module \"pkg.absent\"", NULL);
    says(CASE({"module", "absent.pkg"}), "there is no Python module \"absent.pkg\"", NULL);
    says(CASE({"module", "good.py"}), "\"module = good\" or \"wsgi-file = good.py\"", NULL);
    says(CASE({"module", "good:aplication"}), "good.py) has no \"aplication\"",
         "did you mean \"application\"? Callables in it: application, other, make");
    says(CASE({"module", "flasklike"}), "has no \"application\": did you mean \"app\"?", NULL);
    says(CASE({"module", "factory"}), "has no \"application\": did you mean \"create_app()\"?",
         NULL);
    says(CASE({"module", "empty"}), "there is no callable in it that could be an app", NULL);
    says(CASE({"module", "good:holder.nothing"}), "has no \"nothing\"", NULL);
    says(CASE({"module", "good:number"}), "\"number\" in good is an object of type int", NULL);
    says(CASE({"module", "good:number()"}), "\"number()\" cannot be called", NULL);
    says(CASE({"wsgi-file", "absent.py"}), "/absent.py: No such file", NULL);
    says(CASE({"wsgi-file", "pkg"}), "/pkg: Is a directory", NULL);
    says(CASE({"wsgi-file", "good.py"}, {"callable", "ap"}), "has no \"ap\": did you mean", NULL);
}

static void what_the_app_raises_is_shown(void **state)
{
    (void)state;
    says(CASE({"module", "imports_absent"}), "Traceback (most recent call last)",
         "refused: module: \"imports_absent\" raised an exception (its traceback is above): "
         "ModuleNotFoundError: No module named 'absent_dependency'");
    says(CASE({"module", "broken"}), "    def application(", "SyntaxError");
    says(CASE({"module", "raising"}), "raising.py\", line 2, in fail",
         "(its traceback is above): ValueError: at import");
    says(CASE({"module", "exiting"}), "SystemExit", "refused: module: \"exiting\"");
    says(CASE({"module", "interrupted"}), "KeyboardInterrupt", "refused: module:");
    says(CASE({"module", "good:make_fails()"}), "in make_fails", "refused: module: \"good\"");
    says(CASE({"wsgi-file", "broken.py"}), "SyntaxError", "refused: wsgi-file: \"broken.py\"");
}

static void pythonpath_is_searched_as_by_uwsgi(void **state)
{
    (void)state;
    says(CASE({"module", "paths"}, {"pythonpath", "one"}, {"pythonpath", "two"}),
         "200 ['two', 'one', '.']\n", NULL);
    says(CASE({"module", "paths"}, {"pythonpath", "lib*"}), "libx", "'.']");
    says(CASE({"module", "paths"}, {"pythonpath", "none"}), "pythonpath: none: no such folder",
         "200 ['none', '.']");
    says(CASE({"module", "in_one"}, {"pythonpath", "one"}), "200 in one\n", NULL);
}

static void homes_are_checked(void **state)
{
    (void)state;
    says(CASE({"module", "good"}, {"home", "absent"}), "refused: home: /tmp/ccload",
         "/absent: No such file or directory; expected the folder of a virtualenv");
    says(CASE({"module", "good"}, {"venv", "good.py"}), "good.py is not a folder", NULL);
    says(CASE({"module", "good"}, {"virtualenv", "one"}),
         "is no virtualenv: expected a file pyvenv.cfg in it", "-m venv");
    says(CASE({"module", "good"}, {"pyhome", "oldvenv"}), "is a virtualenv of Python 2.7.18, but",
         NULL);
}

static void a_virtualenv_is_used(void **state)
{
    char *command = cc_format("%s -m venv --without-pip %s/venv", getenv("PYTHON"), folder);
    (void)state;

    if (system(command) != 0)
        fail_msg("failed: %s", command);
    free(command);
    command = cc_format("cp %s/one/in_venv.py %s/venv/lib/python*/site-packages", folder, folder);
    assert_int_equal(system(command), 0);
    free(command);
    says(CASE({"module", "venv_user"}, {"home", "venv"}), "200 in one ", "/venv/bin/python True\n");
}

static void *second_thread(void *argument)
{
    struct app_host *host = argument;
    void *thread = host->app->thread_begin(host->state, 1, 1);

    for (int i = 0; i < 20; i++)
        say_answer(host, thread);
    host->app->thread_end(host->state, thread);
    return NULL;
}

static void fork_and_ask(struct app_host *host)
{
    for (int worker = 1; worker <= 2; worker++) {
        host->app->before_fork(host->state);
        dprintf(STDERR_FILENO, "%s", app_host_log());
        pid_t pid = fork();
        if (pid == 0) {
            host->app->after_fork_child(host->state, worker, &host->err);
            dprintf(STDERR_FILENO, "worker %d: ", worker);
            say_answer(host, host->thread);
            second_thread(host);
            return; /* through unload, as a worker ends */
        }
        host->app->after_fork_parent(host->state);
        int status;
        waitpid(pid, &status, 0);
        dprintf(STDERR_FILENO, "child %d: %d\n", worker, status);
    }
}

static void forks_work(void **state)
{
    (void)state;
    says(&(struct load_case){.options = {{"module", "printing"}}, .act = fork_and_ask},
         "worker 1: 200 application\n", "child 2: 0\n");
    /* What was printed without a line's end before the fork is there once. */
    char *first = strstr(cc_buf_text(&said), "partial");
    assert_non_null(first);
    assert_null(strstr(first + 1, "partial"));
}

static void threads_before_a_fork_are_named(void **state)
{
    (void)state;
    says(&(struct load_case){.options = {{"module", "threaded"}}, .act = fork_and_ask},
         "the app started 1 thread while it was imported (poller)", "lazy-apps = true");
    char *first = strstr(cc_buf_text(&said), "while it was imported");
    assert_null(strstr(first + 1, "while it was imported"));
}

static void the_end_runs_the_apps_own(void **state)
{
    (void)state;
    says(CASE({"module", "leaving"}), "200 application\n", "atexit ran\nover\n");
    says(CASE({"module", "executor"}), "200 application\n", "atexit ran\nover\n");
    says(CASE({"module", "stubborn"}), "left behind: mule", "atexit ran\n");
}

static void optimize_and_argv(void **state)
{
    (void)state;
    says(CASE({"module", "flags"}, {"optimize", "2"}, {"pyargv", "a b"}),
         "200 2 ['uwsgi', 'a', 'b']\n", NULL);
    says(CASE({"module", "flags"}), "200 0 ['uwsgi']\n", NULL);
    says(CASE({"module", "flags:wrapper"}), "200 True\n", NULL);
    says(CASE({"module", "flags:wrapper"}, {"wsgi-disable-file-wrapper", "true"}), "200 False\n",
         NULL);
}

#define APP(name, text)                                                                            \
    "def " name "(environ, start_response):\n"                                                     \
    "    start_response('200 OK', [])\n"                                                           \
    "    return [(" text ").encode()]\n"

static const char *const files[][2] = {
    {"good.py", "import os\nfrom os.path import join\n" APP("application", "'application'")
                    APP("other", "'other'") "def make():\n    return _made\n" APP("_made", "'made'")
                        APP("_held", "'held'") "class Holder:\n    app = staticmethod(_held)\n"
                                               "holder = Holder\nnumber = 3\n"
                                               "def make_fails():\n    raise ValueError('made')\n"},
    {"with-dash.py", APP("application", "__name__ + ' ' + __file__")},
    {"site.wsgi", APP("application", "__name__ + ' ' + __file__")},
    {"latin.py", "# coding: latin-1\n" APP("application", "'\xe4'")},
    {"pkg/__init__.py", ""},
    {"pkg/inner.py", APP("app", "__name__")},
    {"flasklike.py", "from threading import Thread\nclass Flask:\n    def __call__(self, e, s):\n"
                     "        pass\napp = Flask()\ndef index():\n    pass\n"},
    {"factory.py", "def create_app():\n    pass\ndef zzz():\n    pass\n"},
    {"empty.py", "import os\nfrom os import getcwd\nVALUE = 1\nclass A: pass\n"},
    {"imports_absent.py", "import absent_dependency\n"},
    {"broken.py", "def application(\n"},
    {"raising.py", "def fail():\n    raise ValueError('at import')\nfail()\n"},
    {"exiting.py", "import sys\nsys.exit(5)\n"},
    {"interrupted.py", "raise KeyboardInterrupt\n"},
    {"paths.py", "import sys\n" APP("application", "str(sys.path[:sys.path.index('.') + 1])")},
    {"one/in_one.py", APP("application", "'in one'")},
    {"one/in_venv.py", ""},
    {"venv_user.py",
     "import sys, in_venv\n" APP("application", "'in one ' + sys.executable + ' ' + "
                                                "str(sys.prefix != sys.base_prefix)")},
    {"oldvenv/pyvenv.cfg", "home = /usr/bin\nversion = 2.7.18\n"},
    {"printing.py", "print('partial', end='')\n" APP("application", "'application'")},
    {"threaded.py", "import threading\nstop = threading.Event()\n"
                    "t = threading.Thread(target=stop.wait, name='poller', daemon=True)\n"
                    "t.start()\n" APP("application", "'application'")},
    {"leaving.py", "import atexit, os\natexit.register(os.write, 2, b'atexit ran\\n')\n" APP(
                       "application", "'application'")},
    {"executor.py", "import concurrent.futures\nfrom leaving import *\n"
                    "pool = concurrent.futures.ThreadPoolExecutor()\npool.submit(int)\n"},
    {"stubborn.py", "import threading, time\nfrom leaving import *\n"
                    "threading.Thread(target=time.sleep, args=(50,), name='mule').start()\n"},
    {"flags.py", "import sys\n" APP("application", "str(sys.flags.optimize) + ' ' + str(sys.argv)")
                     APP("wrapper", "str('wsgi.file_wrapper' in environ)")},
};

static int start(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    static const char *const folders[] = {"pkg", "one", "two", "libx", "oldvenv"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make_folder(folders[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        write_file(files[i][0], files[i][1]);
    return 0;
}

static int stop(void **state)
{
    char *command = cc_format("rm -rf '%s'", folder);
    int status = system(command);
    (void)state;

    free(command);
    cc_buf_clear(&said);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_found),
        cmocka_unit_test(files_are_found),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(what_the_app_raises_is_shown),
        cmocka_unit_test(pythonpath_is_searched_as_by_uwsgi),
        cmocka_unit_test(homes_are_checked),
        cmocka_unit_test(a_virtualenv_is_used),
        cmocka_unit_test(forks_work),
        cmocka_unit_test(threads_before_a_fork_are_named),
        cmocka_unit_test(the_end_runs_the_apps_own),
        cmocka_unit_test(optimize_and_argv),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
