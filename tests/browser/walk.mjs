// Walks through the console in Chromium. `node walk.mjs HOUSE PICTURES`: HOUSE is a JSON object with
//
//   url       the address of the service
//   link      the path of a link that signs a manager in
//   tenant    the path of the tenant's pages, with a slash behind it
//   check     a check that is denied until the walk restores the revision before, as a request to /api/v1/check
//   token     the token that sends it
//   policy    the name of the policy whose change denies it
//   script    a text that would run if a page took it for markup
//
// PICTURES is the folder for pictures. Prints what it saw, with seconds, and ends with 1 at the first thing that is not right.

import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { launch, signed_in, watched } from './browser.mjs';

const require = createRequire(import.meta.url);
const axe = require('axe-core').source;

const house = JSON.parse(process.argv[2]);
const pictures = process.argv[3];
mkdirSync(pictures, { recursive: true });

const begun = Date.now();
function say(what) {
  console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s  ${what}`);
}

/** Takes a picture for people. Chromium cannot always take one on a busy machine, which says nothing about the page. */
async function picture(page, name, options) {
  const taken = page.screenshot({ path: `${pictures}/${name}.png`, ...options });
  await taken.catch((error) => say(`no picture of ${name}: ${error.message.split('\n')[0]}`));
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

const page_of = (path) => new URL(house.tenant + path, house.url).href;

/** Sends the check as a service does, and returns its decision. */
async function checked() {
  const answer = await fetch(new URL('/api/v1/check', house.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${house.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(house.check),
  });
  expect(answer.status === 200, `the check answers ${answer.status}`);
  return (await answer.json()).decision;
}

/** From a denial in the live log to its cause, its counterfactual, the matrix, the revision, and back to an allow. */
async function walk(page) {
  await page.goto(page_of('decisions'));
  await page.getByRole('button', { name: 'Live' }).click();
  const log = page.getByRole('log', { name: 'Live decisions' });
  await log.waitFor();
  // The stream begins with what is decided from now on.
  let line = log.getByRole('link').first();
  do {
    expect(await checked() === 'deny', 'the check is denied at first');
  } while (!await line.waitFor({ timeout: 1000 }).then(() => true, () => false));
  say('a denial is in the live log');
  await picture(page, 'live');

  await line.click();
  await page.getByRole('heading', { name: 'What would allow it' }).waitFor();
  const outcome = await page.getByTestId('outcome').textContent();
  expect(outcome === 'Deny', `the outcome is ${outcome}`);
  const failed = page.locator('details', { hasText: house.policy }).locator('[data-testid=node][data-outcome=false]');
  expect(await failed.count() > 0, 'a part of the condition is false');
  say(`its cause: ${(await failed.first().innerText()).replaceAll(/\s+/g, ' ')}`);
  const change = page.getByRole('listitem').filter({ hasText: '→' }).first();
  say(`what would allow it: ${await change.innerText()}`);
  await picture(page, 'decision', { fullPage: true });

  await page.getByRole('link', { name: 'Access' }).click();
  await page.getByLabel('Subjects').fill(house.check.subject);
  await page.getByLabel('Resources').fill(house.check.resource);
  await page.getByRole('button', { name: 'Choose' }).click();
  const cell = page.getByTestId('cell').first();
  await cell.waitFor();
  expect(await cell.getAttribute('data-decision') === 'conditional', 'the cell depends on attributes');
  await picture(page, 'access');
  await cell.getByRole('link', { name: 'Why' }).click();
  await page.getByText(house.policy).first().waitFor();
  say('the matrix has it, and its cell says why');

  await page.getByRole('link', { name: 'Changes' }).click();
  const revisions = page.getByRole('list', { name: 'Revisions' }).getByRole('link');
  await revisions.first().click();
  await page.getByRole('table', { name: 'What changed' }).getByText(house.policy).first().waitFor();
  const made = Number((await page.getByRole('heading', { level: 1 }).innerText()).split(' ')[1]);
  say(`revision ${made} made it`);
  await picture(page, 'change');

  await page.goto(page_of(`changes/${made - 1}`));
  await page.getByRole('link', { name: 'Restore' }).click();
  await page.getByRole('table', { name: 'What changed' }).waitFor();
  await picture(page, 'restore');
  await page.getByLabel('Message').fill('Back to what the ward agreed on');
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('status').getByText('restored').waitFor();
  expect(await checked() === 'allow', 'the check is allowed again');
  say('restored, and allowed');
}

const PAGES = [
  'decisions', 'decisions?subject=nobody', 'ask', 'ask?subject=ann&resource=chart:read&action=read', 'access', 'access/who',
  'access/what?subject=ann', 'policies', 'rules', 'resources', 'types', 'conditions', 'changes', 'proposals', 'me', 'sessions',
  'sign-in', 'decisions?nothing=1',
];

/** What axe finds, what does not fit a narrow screen, and a picture: of each page, in each theme and width. */
async function seen(browser, state, reports) {
  let count = 0;
  for (const [look, size, scheme] of [
    ['light', { width: 1280, height: 900 }, 'light'],
    ['dark', { width: 1280, height: 900 }, 'dark'],
    ['narrow', { width: 390, height: 844 }, 'light'],
  ]) {
    const context = await browser.newContext({ storageState: state, viewport: size, colorScheme: scheme });
    const page = watched(await context.newPage(), []);
    const denial = await first_decision(page);
    for (const path of [...PAGES, denial]) {
      const answer = await page.goto(page_of(path));
      const name = path.replaceAll(/[^a-z]+/g, '-').slice(0, 40);
      await picture(page, `${name}-${look}`, { fullPage: true });
      const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })`);
      for (const one of found.violations) {
        reports.push(`${look} ${path}: ${one.id}: ${one.help}: ${one.nodes[0].html}`);
      }
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      if (wider > 0) reports.push(`${look} ${path}: ${wider} px wider than the window`);
      const hacked = await page.evaluate('window.hacked === undefined');
      if (!hacked) reports.push(`${look} ${path}: a stored script ran`);
      expect(answer.status() < 500, `${path} answers ${answer.status()}`);
      count += 1;
    }
    await context.close();
  }
  say(`${count} looks at pages`);
}

async function first_decision(page) {
  await page.goto(page_of('decisions?decision=deny'));
  return `decisions/${(await page.getByRole('table', { name: 'Decisions' }).getByRole('link').first().getAttribute('href')).split('/').pop()}`;
}

/** The keyboard alone: the first stop skips to the content, and a filter is filled and sent. */
async function typed(page) {
  await page.goto(page_of('decisions'));
  await page.keyboard.press('Tab');
  const first = await page.evaluate('document.activeElement.textContent');
  expect(first === 'Skip to content', `the first stop is ${first}`);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type(house.check.subject);
  await page.keyboard.press('Enter');
  await page.waitForURL(/subject=/);
  expect(await page.getByLabel('Subject').inputValue() === house.check.subject, 'the filter keeps its text');
  // The menu opens and closes.
  await page.goto(page_of('me'));
  const menu = page.getByRole('button', { name: 'Account' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Sessions' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Sessions' }).waitFor({ state: 'hidden' });
  say('the keyboard alone');
}

/** Without script: forms, filters, themes and the sign-out. */
async function scriptless(browser, state) {
  const context = await browser.newContext({ storageState: state, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(page_of('decisions'));
  expect(!await page.getByRole('button', { name: 'Live' }).isVisible(), 'Live needs script');
  await page.getByLabel('Subject').fill('nobody');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('No decision fits the filter').waitFor();
  await page.getByRole('button', { name: 'Dark' }).click();
  expect(await page.locator('html').getAttribute('data-theme') === 'dark', 'the theme is kept');
  expect(new URL(page.url()).search.includes('subject=nobody'), 'the theme leads back to the page');
  await page.goto(page_of('ask'));
  await page.getByLabel('Subject').fill(house.check.subject);
  await page.getByLabel('Action').fill(house.check.action);
  await page.getByLabel('Resource').fill(house.check.resource);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByTestId('outcome').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Signed out' }).waitFor();
  await page.goto(page_of('decisions'));
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await context.close();
  say('forms without script');
}

/** Bytes that a browser without a cache receives for the first page. */
async function weighed(browser, state) {
  const context = await browser.newContext({ storageState: state });
  const page = await context.newPage();
  let [all, files] = [0, 0];
  page.on('requestfinished', async (request) => {
    const sizes = await request.sizes();
    all += sizes.responseBodySize;
    if (request.url().includes('/assets/')) files += sizes.responseBodySize;
  });
  await page.goto(page_of(''), { waitUntil: 'networkidle' });
  await context.close();
  expect(all > 1000 && all <= 100 * 1024, `the first page has ${all} bytes`);
  expect(files <= 60 * 1024, `script and style have ${files} bytes`);
  say(`the first page: ${all} bytes, ${files} of them script and style`);
}

const browser = await launch();
const reports = [];
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await signed_in(context, house, reports);
  await walk(page);
  await typed(page);
  const state = await context.storageState();
  await weighed(browser, state);
  await seen(browser, state, reports);
  await scriptless(browser, state);
  expect(reports.length === 0, [...new Set(reports)].join('\n'));
  say('no report of the browser, none of axe');
} finally {
  await browser.close();
}
