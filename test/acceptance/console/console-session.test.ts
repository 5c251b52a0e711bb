/** The console as people meet it first: signing in, who they are, language, colours, signing out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleStack, openConsoleStack, USER } from '../../support/console/console-stack.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await openConsoleStack();
}, 90_000);
afterAll(() => stack?.close());

test('console: a sign-in returns to the address that was opened, and a reload needs no password (R-B2)', async () => {
  const { page, complaints, close } = await stack.open(USER, '/?from=a-shared-link');
  expect(page.url()).toBe(`${stack.origin}/?from=a-shared-link`);
  await page.reload();
  await page.getByRole('navigation').waitFor();
  expect(page.url()).toBe(`${stack.origin}/?from=a-shared-link`);
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
  expect(kept, 'tokens stay in memory').not.toMatch(/eyJ|access_token|refresh_token/);
  expect(complaints).toEqual([]);
  await close();
});

test('console: a person changes the account, and sees only that one (R-B4)', async () => {
  const other = await stack.world.addAccount('Elsewhere');
  await stack.world.addUser('both@example.test', { accountIds: [stack.world.accountId, other] });
  const { page, complaints, close } = await stack.open('both@example.test');
  await page.getByRole('button', { name: 'Menu of' }).click();
  await page.getByRole('menuitem', { name: 'Elsewhere' }).click();
  await page.getByRole('button', { name: 'Menu of' }).getByText('Elsewhere').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console: language and colours are chosen by keyboard and stay after a reload', async () => {
  const { page, complaints, close } = await stack.open(USER, '/', { colorScheme: 'light' });
  const menu = page.getByRole('button', { name: 'Menu of' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Language' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('menuitem', { name: 'Nederlands' }).press('Enter');
  await page.getByRole('link', { name: 'Overzicht' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Overzicht' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('nl');
  expect(complaints).toEqual([]);
  await close();
});

test('console: signing out ends the session at the issuer; signing out everywhere also ends the session of another browser (R-B5)', async () => {
  const first = await stack.open(MANAGER);
  const second = await stack.open(MANAGER);
  await first.page.getByRole('button', { name: 'Menu of' }).click();
  await first.page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await first.page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await second.page.reload();
  await second.page.getByLabel('User name').waitFor();
  await first.page.getByRole('button', { name: 'Sign in' }).click();
  await first.page.getByLabel('User name').waitFor();
  expect([...first.complaints, ...second.complaints]).toEqual([]);
  await Promise.all([first.close(), second.close()]);
});
