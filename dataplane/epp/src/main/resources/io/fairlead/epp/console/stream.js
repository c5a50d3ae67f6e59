// The stream of events, opened again whenever it ends. A tab that is not looked at has none.

const LONGEST_PAUSE = 8;
const SILENT_AFTER = 5;
const DEAD_AFTER = 15;

/**
 * Listens. heard has a function for each event: hello, point, state; lost(why, seconds) is called when there is no
 * connection, and for how long none is tried: why is gone, crowded or silent.
 */
export function listen(heard, lost) {
  let source = null;
  let timer = 0;
  let pause = 1;
  let last = performance.now();

  function open() {
    clearTimeout(timer);
    close();
    const opened = new EventSource('events');
    source = opened;
    for (const event of Object.keys(heard)) {
      opened.addEventListener(event, (message) => {
        last = performance.now();
        if (event === 'state') {
          pause = 1;
        }
        heard[event](JSON.parse(message.data));
      });
    }
    opened.addEventListener('error', () => {
      if (source === opened) {
        close();
        again();
      }
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  async function again() {
    const why = await reason();
    if (source || document.hidden) {
      return;
    }
    if (why === 'login') {
      location.assign('login');
      return;
    }
    // A stream that has just ended as all do is opened again, and nobody needs to know.
    if (why !== 'ended' || pause > 1) {
      lost(why === 'ended' ? 'gone' : why, pause);
    }
    timer = setTimeout(open, pause * 1000);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }

  async function reason() {
    try {
      const answer = await fetch('events', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(5000) });
      return { 401: 'login', 403: 'login', 503: 'crowded' }[answer.status] ?? (answer.ok ? 'ended' : 'gone');
    } catch {
      return 'gone';
    }
  }

  setInterval(() => {
    const silent = (performance.now() - last) / 1000;
    if (source && silent > DEAD_AFTER) {
      last = performance.now();
      close();
      again();
    } else if (source && silent > SILENT_AFTER) {
      lost('silent', 0);
    }
  }, 1000);

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      clearTimeout(timer);
      close();
    } else {
      last = performance.now();
      open();
    }
  });

  if (!document.hidden) {
    open();
  }
}
