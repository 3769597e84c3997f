// Copying, and the live log. Every page works without it.

function copy(button) {
  const text = document.getElementById(button.dataset.copy)?.textContent ?? '';
  const name = button.textContent;
  navigator.clipboard.writeText(text).then(() => {
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = name; }, 1500);
  });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', () => copy(button));
}

// A menu closes as menus do.
const account = document.querySelector('details.account');
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && account?.open) {
    account.open = false;
    account.querySelector('summary').focus();
  }
});
document.addEventListener('click', (event) => {
  if (account?.open && !account.contains(event.target)) account.open = false;
});

const MAX_LINES = 200;

function line(log, record, page) {
  const row = document.createElement('p');
  const link = document.createElement('a');
  link.href = page + encodeURIComponent(record.id);
  link.textContent = record.time;
  const badge = document.createElement('span');
  const allows = record.decision === 'allow';
  badge.className = `badge ${allows ? 'allow' : 'deny'}`;
  badge.textContent = allows ? 'Allow' : 'Deny';
  row.append(link, ' ', badge, ` ${record.subject} ${record.action} ${record.resource} `, record.reason);
  log.prepend(row);
  while (log.childElementCount > MAX_LINES) log.lastElementChild.remove();
}

function say(log, text) {
  const row = document.createElement('p');
  row.textContent = text;
  log.prepend(row);
}

const live = document.getElementById('live-button');
if (live) {
  const log = document.getElementById('live');
  let events = null;
  live.hidden = false;
  live.addEventListener('click', () => {
    const begins = events === null;
    live.setAttribute('aria-pressed', String(begins));
    log.hidden = !begins;
    if (!begins) {
      events.close();
      events = null;
      return;
    }
    events = new EventSource(live.dataset.live);
    events.addEventListener('decision', (event) => line(log, JSON.parse(event.data), live.dataset.page));
    events.addEventListener('more', (event) => say(log, `${JSON.parse(event.data).more} more were skipped`));
  });
}
