// Measures when pages of the console are painted first, beside a bare page of the same bytes. `node paint.mjs HOUSE`: HOUSE is a
// JSON object with `url`, `link` and `tenant` as in walk.mjs, and `pages`, a list of paths. Prints a line for each page.

import { createServer } from 'node:http';
import { launch, signed_in } from './browser.mjs';

const ROUNDS = 9;
const house = JSON.parse(process.argv[2]);

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];

/** Milliseconds until the first paint of `url`. */
async function painted(page, url) {
  await page.goto(url, { waitUntil: 'load' });
  // It may come after the page has loaded.
  return page.evaluate(`new Promise((done) => {
    new PerformanceObserver((list) => {
      const first = list.getEntriesByName('first-contentful-paint')[0];
      if (first) done(first.startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
}

/** A server of one page, which it sends at once. */
async function bare(body) {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    answer.end(body);
  });
  await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
  return server;
}

const browser = await launch();
try {
  const context = await browser.newContext();
  const page = await signed_in(context, house, []);
  for (const path of house.pages) {
    const url = new URL(house.tenant + path, house.url).href;
    const body = await (await page.goto(url)).text();
    // Without files, so that it paints as soon as it can.
    const server = await bare(body.replaceAll(/<(script|link)[^>]*>(<\/script>)?/g, ''));
    const own = [];
    const other = [];
    const whole = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      other.push(await painted(page, `http://127.0.0.1:${server.address().port}/`));
      own.push(await painted(page, url));
      whole.push(await page.evaluate('performance.timing.loadEventEnd - performance.timing.navigationStart'));
    }
    server.close();
    const [first, plain] = [median(own), median(other)];
    console.log(
      `${path}: ${body.length} bytes, first paint ${first.toFixed(0)} ms, bare ${plain.toFixed(0)} ms, `
      + `${(first / plain).toFixed(2)} times; loaded after ${median(whole).toFixed(0)} ms`,
    );
  }
} finally {
  await browser.close();
}
