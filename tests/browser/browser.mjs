// Chromium, and somebody who is signed in.

import { chromium } from 'playwright-core';

/** Starts Chromium. Without the flags it looks for its maker's services. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** Notes every report of the browser about a page: a refused script or style, an error, a failed request. */
export function watched(page, reports) {
  page.on('console', (message) => {
    if (message.type() === 'error') reports.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => reports.push(`${page.url()}: ${error}`));
  page.on('dialog', (dialog) => { reports.push(`${page.url()}: a dialog`); dialog.dismiss(); });
  return page;
}

/** Returns a page whose person signed in by the link of `house`. */
export async function signed_in(context, house, reports) {
  const page = watched(await context.newPage(), reports);
  await page.goto(new URL(house.link, house.url).href);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Decisions' }).waitFor();
  return page;
}
