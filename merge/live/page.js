'use strict';
// The page keeps itself true: it listens to the stream, reads the page now and then if the
// stream does not come through, and says so if neither answers.
(() => {
  const body = document.body, silence = Number(body.dataset.silence), $ = id => document.getElementById(id);
  let source = null, version = body.dataset.version, heard = Date.now(), polling = false, retry = 0, problem = '';
  document.documentElement.classList.add('js');

  // morph makes an element look like another one, and keeps what did not change: the focus,
  // what is selected, and what a screen reader has said already.
  function morph(old, now) {
    if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) return old.replaceWith(now);
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== now.data) old.data = now.data;
      return;
    }
    const own = a => old.nodeName === 'DETAILS' && a.name === 'open'; // of whoever reads
    for (const a of [...old.attributes]) if (!own(a) && !now.hasAttribute(a.name)) old.removeAttribute(a.name);
    for (const a of now.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
    const byID = new Map([...old.children].filter(e => e.id).map(e => [e.id, e]));
    let at = old.firstChild;
    for (const kid of [...now.childNodes]) {
      const same = kid.id ? byID.get(kid.id) : at && !at.id ? at : null;
      if (!same) { old.insertBefore(kid, at); continue; }
      if (same === at) at = at.nextSibling; else old.insertBefore(same, at);
      morph(same, kid);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  }

  // put renews a part. What has the focus and moved to elsewhere in the part gets it again.
  function put(id, element) {
    const old = $(id), had = document.activeElement, place = had && had.closest('[id]');
    if (!old || !element) return;
    morph(old, element);
    if (place && !had.isConnected && $(place.id)) {
      const now = place === had ? $(place.id) : [...$(place.id).querySelectorAll(had.tagName)].find(e => e.textContent === had.textContent);
      if (now) now.focus();
    }
    if (id === 'head') document.title = $('head').dataset.title;
  }

  // local writes beside each time what the clock says here.
  function local() {
    if (!new Date().getTimezoneOffset()) return;
    const here = date => isNaN(date) ? '' : date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    for (const t of document.querySelectorAll('time[datetime]')) t.dataset.local = here(new Date(t.getAttribute('datetime')));
    for (const e of document.querySelectorAll('.figures dd, .figures small, .phase, .how')) {
      const found = [...e.textContent.matchAll(/\b\d\d:\d\d(?::\d\d)?(?=Z| to \d\d:\d\dZ)/g)].map(m => here(new Date((body.dataset.now || '').slice(0, 11) + m[0] + 'Z')));
      if (found.length) e.dataset.local = found.join(' to ');
    }
  }

  // say tells how far what is seen can be trusted.
  function say(text, bad) {
    const line = $('connection');
    if (line.textContent !== text) line.textContent = text;
    line.className = bad ? 'bad' : '';
  }
  function judge() {
    const since = body.dataset.now ? body.dataset.now.replace(/^.*T/, '') : 'the beginning';
    if (Date.now() - heard >= silence) say('Not connected since ' + since + '. What you see is from then.', true);
    else if (problem) say('The state cannot be read since ' + since + ', and what you see is from then: ' + problem, true);
    else say(polling ? 'Events do not come through: this page is read every few seconds instead.' : '', false);
  }
  function fresh(now, error) {
    heard = Date.now();
    problem = error || '';
    if (now) { body.dataset.now = now; $('asof').textContent = now; }
    local();
    judge();
  }

  function listen() {
    if (source) source.close();
    const s = source = new EventSource('live?shape=' + encodeURIComponent(body.dataset.shape) + '&after=' + encodeURIComponent(version));
    s.addEventListener('parts', e => {
      const m = JSON.parse(e.data), page = new DOMParser();
      version = e.lastEventId;
      for (const id in m.parts) put(id, page.parseFromString(m.parts[id], 'text/html').getElementById(id));
      polling = false;
      fresh(m.now, m.error);
    });
    s.addEventListener('reload', () => location.reload());
  }

  // poll reads the page as it is without a script.
  async function poll() {
    const answer = await fetch('.', { cache: 'no-store', signal: AbortSignal.timeout(silence) });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html'), now = page.body.dataset;
    if (!now.shape) throw new Error('another page');
    if (now.shape !== body.dataset.shape) return location.reload();
    for (const part of [...page.querySelectorAll('main > [id]')]) put(part.id, part);
    version = now.version;
    polling = true;
    fresh(now.now, now.error);
  }

  // Whoever sleeps, such as a telephone, or comes back from elsewhere hears of it at once.
  let busy = false;
  async function watch() {
    if (document.hidden || busy) return;
    busy = true;
    judge();
    if (polling || Date.now() - heard >= silence) {
      try { await poll(); } catch { judge(); }
      if (Date.now() > retry) { listen(); retry = Date.now() + 5 * silence; }
    } else if (!source || source.readyState === EventSource.CLOSED) listen();
    busy = false;
  }
  function wake() {
    if (document.hidden) {
      if (source) source.close(); // a browser has few connections to one place
      source = null;
    } else {
      retry = 0;
      watch();
    }
  }
  document.addEventListener('visibilitychange', wake);
  addEventListener('pageshow', e => { if (e.persisted) wake(); });
  addEventListener('online', wake);
  setInterval(watch, Math.min(silence / 3, 5000));
  if (!document.hidden) listen();

  // Copying, and actions.
  let quiet = 0;
  function tell(text) {
    let line = $('answer');
    if (!line) { line = document.createElement('p'); line.id = 'answer'; line.setAttribute('role', 'status'); body.append(line); }
    line.textContent = text;
    clearTimeout(quiet);
    quiet = setTimeout(() => line.textContent = '', 6000);
  }
  async function copy(button) {
    const code = button.parentNode.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      tell('Copied.');
    } catch { // a page that is not encrypted may not
      getSelection().selectAllChildren(code);
      tell('Selected: copy it with the keyboard.');
    }
  }

  const questions = { pause: () => 'Pause? What runs comes to its next batch and waits there.', resume: () => 'Resume?', skip: words => words + '? Its new database stays as it is then.' };
  function ask(question, secret) {
    return new Promise(done => {
      const dialog = $('ask');
      if (dialog.onclose) dialog.onclose(); // the last question was closed, and its event is still to come
      $('question').textContent = question;
      $('secret').hidden = !secret;
      $('token').value = '';
      dialog.returnValue = 'no';
      dialog.onclose = () => { if (dialog.open) return; dialog.onclose = null; done(dialog.returnValue === 'yes'); $('question').textContent = ''; };
      dialog.showModal();
      (secret ? $('token') : $('yes')).focus();
    });
  }
  async function act(what, merge, words) {
    const label = questions[what](words);
    for (let first = label; ;) {
      const kept = sessionStorage.getItem('token');
      if (!await ask(first, !kept)) return;
      const token = kept || $('token').value;
      $('token').value = '';
      try {
        const answer = await fetch('api/' + what, { method: 'POST', headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }, body: JSON.stringify(merge ? { merge } : {}) });
        if (answer.status === 401) { sessionStorage.removeItem('token'); first = 'That was not the token. ' + label; forgetful(); continue; }
        sessionStorage.setItem('token', token);
        forgetful();
        tell(answer.ok ? 'Done: the process sees it within a second.' : (await answer.json()).error);
      } catch (e) { tell('Not done: ' + e.message); }
      return;
    }
  }
  function forgetful() { if ($('forget')) $('forget').hidden = !sessionStorage.getItem('token'); }
  forgetful();
  local();
  document.addEventListener('click', e => {
    const button = e.target.closest('button');
    if (!button) return;
    if (button.classList.contains('copy')) copy(button);
    else if (button.dataset.do) act(button.dataset.do, decodeURIComponent(button.dataset.merge || ''), button.textContent);
    else if (button.id === 'forget') { sessionStorage.removeItem('token'); forgetful(); tell('The token is forgotten.'); }
  });
  // Enter in the field of the token means yes, not the first button.
  if ($('token')) $('token').addEventListener('keydown', e => { if (e.key === 'Enter') { e.preventDefault(); $('ask').close('yes'); } });
})();
