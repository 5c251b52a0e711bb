/** A page in Chromium: keyboard input, text, accessibility tree, layout and contrast. */

import { eventually } from '../eventually.ts';
import type { SendCommand } from './chromium.ts';

export interface Screen {
  /** Size of the window, in CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
  /** True makes the window at least as high as the page, so that a screenshot shows the whole page. */
  readonly isWholePage?: boolean;
}

export interface Tab {
  open(url: string): Promise<void>;
  /** Waits until the heading is `title`. */
  untilTitle(title: string): Promise<void>;
  /** Waits until the page contains `text`. */
  untilText(text: string): Promise<void>;
  /** Waits until the URL begins with `start`. @returns the whole URL. */
  untilAddress(start: string): Promise<string>;
  /** Replaces the text of a field with `text`. @param id id of the field. */
  type(id: string, text: string): Promise<void>;
  /** Replaces the text of the focused field with `text`. */
  typeHere(text: string): Promise<void>;
  /** Presses a key: Enter submits a form, Tab focuses the next field. */
  press(key: 'Enter' | 'Tab'): Promise<void>;
  /** Focuses the first element that matches a selector. */
  focusOn(selector: string): Promise<void>;
  /** Presses the first button of the page. */
  pressButton(): Promise<void>;
  /** @returns the HTML of the page. */
  html(): Promise<string>;
  /** @returns the accessibility nodes with this role. */
  accessible(role: string): Promise<readonly AccessibleNode[]>;
  /** @returns the accessible name of the focused element. */
  focused(): Promise<string | undefined>;
  speak(language: string): Promise<void>;
  setLayout(layout: Screen): Promise<void>;
  /** Turns the mouse wheel. @param pixels distance; a positive number scrolls down. */
  scrollBy(pixels: number): Promise<void>;
  /** @returns by how many pixels the page is wider than the window. */
  overflow(): Promise<number>;
  /**
   * Finds the elements whose text has less contrast than WCAG 2.2 allows.
   * @param texts selector of the elements to check.
   * @returns a description of each element that was found.
   */
  lowContrast(texts?: string): Promise<readonly string[]>;
  /** @returns a PNG of the window. */
  screenshot(): Promise<Buffer>;
  /** Violations of the page's Content-Security-Policy, and other messages of the browser. */
  readonly complaints: readonly string[];
}

export interface AccessibleNode {
  readonly name: string;
  readonly description: string;
  readonly isInvalid: boolean;
}

interface AxValue {
  readonly value?: unknown;
}

interface AxNode {
  readonly role?: AxValue;
  readonly name?: AxValue;
  readonly description?: AxValue;
  readonly properties?: readonly { readonly name: string; readonly value: AxValue }[];
}

const KEYS = { Enter: { code: 13, text: '\r' }, Tab: { code: 9, text: '' } } as const;

/** Selector of elements with text. */
const TEXTS = 'h1, p, label, input, button, a';
/** Minimum contrast that WCAG 2.2 (1.4.3) allows for text of ordinary size. */
const MIN_CONTRAST = 4.5;

export function createTab(send: SendCommand, complaints: readonly string[]): Tab {
  const html = () => onOneDocument(() => getHtml(send));
  const press: Tab['press'] = async (key) => {
    const { code, text } = KEYS[key];
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(text && { text }) };
    await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event });
    await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  };
  const typeHere = async (text: string) => {
    await send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'a', modifiers: 2, commands: ['selectAll'] });
    await send('Input.insertText', { text });
  };
  const focus = (selector: string) =>
    onOneDocument(async () => {
      await send('DOM.focus', { nodeId: await findNode(send, selector) });
    });
  return {
    ...{ complaints, html, press, typeHere },
    open: async (url) => void (await send('Page.navigate', { url })),
    untilTitle: async (title) => {
      await eventually(`the page "${title}"`, async () => (await html()).includes(`<h1>${title}</h1>`));
    },
    untilText: async (text) => {
      await eventually(`the text "${text}"`, async () => (await html()).includes(text));
    },
    untilAddress: (start) =>
      eventually(`the address ${start}`, async () => {
        const url = await getAddress(send);
        return url.startsWith(start) && url;
      }),
    type: async (id, text) => {
      await focus(`#${id}`);
      await typeHere(text);
    },
    focusOn: focus,
    pressButton: async () => {
      await focus('button');
      await press('Enter');
    },
    accessible: async (role) => (await getAccessible(send)).filter((node) => node.role?.value === role).map(toReadOut),
    focused: async () => {
      const isFocused = ({ role, properties = [] }: AxNode) =>
        role?.value !== 'RootWebArea' && properties.some(({ name, value }) => name === 'focused' && value.value);
      const node = (await getAccessible(send)).find(isFocused);
      return node && toReadOut(node).name;
    },
    speak: async (acceptLanguage) => {
      const { userAgent } = await send<{ userAgent: string }>('Browser.getVersion');
      await send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage });
    },
    setLayout: (layout) => setLayout(send, layout),
    scrollBy: async (pixels) => {
      await send('Input.dispatchMouseEvent', { type: 'mouseWheel', x: 200, y: 200, deltaX: 0, deltaY: pixels });
    },
    overflow: async () => {
      const { cssContentSize, cssLayoutViewport } = await getMetrics(send);
      return cssContentSize.width - cssLayoutViewport.clientWidth;
    },
    lowContrast: (texts = TEXTS) => onOneDocument(() => findLowContrast(send, texts)),
    screenshot: async () =>
      Buffer.from((await send<{ data: string }>('Page.captureScreenshot', { format: 'png' })).data, 'base64'),
  };
}

/** Matches the error that Chromium returns for a node after the page has replaced the node's document. */
const REPLACED = /node with given id/i;
const MAX_DOCUMENTS = 20;

/** Runs the commands. If the page loads another document between two commands, runs all commands again. */
async function onOneDocument<Result>(commands: () => Promise<Result>): Promise<Result> {
  for (let replaced = 1; ; replaced += 1) {
    try {
      return await commands();
    } catch (error) {
      if (replaced === MAX_DOCUMENTS || !(error instanceof Error && REPLACED.test(error.message))) throw error;
    }
  }
}

async function findNodes(send: SendCommand, selector: string): Promise<readonly number[]> {
  const { root } = await send<{ root: { nodeId: number } }>('DOM.getDocument');
  const query = { nodeId: root.nodeId, selector };
  return (await send<{ nodeIds: readonly number[] }>('DOM.querySelectorAll', query)).nodeIds;
}

async function findNode(send: SendCommand, selector: string): Promise<number> {
  const [nodeId] = await findNodes(send, selector);
  if (nodeId === undefined) throw new Error(`the page has no ${selector}`);
  return nodeId;
}

async function getHtml(send: SendCommand): Promise<string> {
  return (await send<{ outerHTML: string }>('DOM.getOuterHTML', { nodeId: await findNode(send, 'html') })).outerHTML;
}

async function getAddress(send: SendCommand): Promise<string> {
  const { currentIndex, entries } = await send<{ currentIndex: number; entries: readonly { url: string }[] }>(
    'Page.getNavigationHistory',
  );
  return entries[currentIndex]?.url ?? '';
}

async function getAccessible(send: SendCommand): Promise<readonly AxNode[]> {
  return (await send<{ nodes: readonly AxNode[] }>('Accessibility.getFullAXTree')).nodes;
}

function toReadOut({ name, description, properties = [] }: AxNode): AccessibleNode {
  const invalid = properties.find((property) => property.name === 'invalid')?.value.value;
  return {
    name: String(name?.value ?? ''),
    description: String(description?.value ?? ''),
    isInvalid: invalid === 'true',
  };
}

interface Metrics {
  readonly cssContentSize: { readonly width: number; readonly height: number };
  readonly cssLayoutViewport: { readonly clientWidth: number };
}

const getMetrics = (send: SendCommand) => send<Metrics>('Page.getLayoutMetrics');

async function setLayout(send: SendCommand, { width, height, scheme, isWholePage = false }: Screen): Promise<void> {
  const size = { width, deviceScaleFactor: 1, mobile: false };
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await send('Emulation.setDeviceMetricsOverride', { ...size, height });
  if (!isWholePage) return;
  const { cssContentSize } = await getMetrics(send);
  await send('Emulation.setDeviceMetricsOverride', { ...size, height: Math.max(height, cssContentSize.height) });
}

/**
 * Finds the elements whose text has too little contrast. Skips elements with hidden text, for which Chromium gives no
 * background colour.
 */
async function findLowContrast(send: SendCommand, texts: string): Promise<readonly string[]> {
  const found = await Promise.all(
    (await findNodes(send, texts)).map(async (nodeId) => {
      const [{ backgroundColors = [] }, { computedStyle }] = await Promise.all([
        send<{ backgroundColors?: readonly string[] }>('CSS.getBackgroundColors', { nodeId }),
        send<{ computedStyle: readonly { name: string; value: string }[] }>('CSS.getComputedStyleForNode', { nodeId }),
      ]);
      const color = computedStyle.find(({ name }) => name === 'color')?.value ?? '';
      const ratio = Math.min(...backgroundColors.map((background) => contrast(color, background)));
      if (ratio >= MIN_CONTRAST) return [];
      const { outerHTML } = await send<{ outerHTML: string }>('DOM.getOuterHTML', { nodeId });
      return [`${ratio.toFixed(2)}: ${color} on ${backgroundColors.join()}, ${outerHTML}`];
    }),
  );
  return found.flat();
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? [])
    .map((part) => Number(part) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
