/**
 * Runs in the browser: opens what an address points to, filters operations, and adds a form to each to try it. It asks
 * this service alone, and keeps the token nowhere but in the page.
 */
const MAX_SHOWN = 100_000;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Fields that are not shown while they are typed. */
const SECRETS = new Set(['password', 'client_secret', 'refresh_token']);
/** Headers nobody needs to try an operation. */
const LEFT_OUT = new Set(['Api-Version', 'X-Request-Id', 'Content-Encoding']);
const byId = (id) => document.getElementById(id);

byId('tools').hidden = false;
byId('tools').addEventListener('submit', (event) => event.preventDefault());
byId('filter').addEventListener('input', filter);
window.addEventListener('hashchange', openTarget);
for (const details of document.querySelectorAll('details.operation')) {
  details.addEventListener('toggle', () => details.open && addForm(details));
}
openTarget();

function openTarget() {
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest('[hidden]')) {
    byId('filter').value = '';
    filter();
  }
  if (target.tagName === 'DETAILS') target.open = true;
  target.scrollIntoView();
}

/** Every word must occur in what an operation is called, where it is, or what it is said to do. */
function filter() {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const section of document.querySelectorAll('section.tag')) {
    let isAny = false;
    for (const details of section.querySelectorAll('details.operation')) {
      const text = `${details.id} ${details.querySelector('summary').textContent}`.toLowerCase();
      details.hidden = !words.every((word) => text.includes(word));
      isAny ||= !details.hidden;
      count += details.hidden ? 0 : 1;
    }
    section.hidden = !isAny;
  }
  byId('found').textContent = words.length === 0 ? '' : `${count} ${count === 1 ? 'operation' : 'operations'} found`;
}

let described;

/** The description the page was made of. */
function describe() {
  described ??= fetch('/openapi.json').then((response) => response.json());
  return described;
}

async function addForm(details) {
  if (details.querySelector('form')) return;
  const form = make('form', { className: 'try' });
  details.querySelector('.inside').append(form);
  const { components, paths } = await describe();
  const resolve = (part) =>
    part.$ref
      ? part.$ref
          .split('/')
          .slice(1)
          .reduce((found, name) => found[name], { components })
      : part;
  const operation = paths[details.dataset.path][details.dataset.method];
  const parameters = operation.parameters.map(resolve).filter(({ name }) => !LEFT_OUT.has(name));
  const fields = parameters.map((parameter) => ({
    parameter,
    input: fieldOf(parameter, resolve(parameter.schema)),
  }));
  const body = bodyFields(operation.requestBody, details, resolve);
  const answer = make('pre', { tabIndex: 0, hidden: true });
  answer.setAttribute('aria-live', 'polite');
  form.append(
    make('h4', { textContent: 'Try it' }),
    grid([...fields.map(({ parameter, input }) => labelled(parameter.name, input)), ...body.labels]),
    make('button', { textContent: 'Send' }),
    answer,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(details, fields, body, answer);
  });
}

/** A choice where the values are known; of none where it may be left out. */
function fieldOf({ name, required = false }, schema) {
  const names = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (!names) return make('input', { name, autocomplete: 'off', type: SECRETS.has(name) ? 'password' : 'text' });
  const select = make('select', { name });
  for (const value of required ? names : ['', ...names]) select.append(make('option', { textContent: value ?? '' }));
  return select;
}

function bodyFields(requestBody, details, resolve) {
  if (!requestBody) return { labels: [], read: () => ({}) };
  const types = Object.keys(requestBody.content);
  if (types[0] === FORM_TYPE) return formFields(resolve(requestBody.content[FORM_TYPE].schema), resolve);
  const type = make('select', { name: 'type' });
  for (const name of types) type.append(make('option', { textContent: name }));
  const text = make('textarea', { name: 'body', value: exampleIn(details), spellcheck: false });
  const file = make('input', { name: 'file', type: 'file' });
  const labels = [labelled('Content-Type', type), labelled('A file as the body', file), labelled('Body', text, 'wide')];
  return { labels, read: () => toBody(type.value, text.value, file.files[0]) };
}

function formFields(schema, resolve) {
  const inputs = Object.entries(schema.properties).map(([name, member]) =>
    fieldOf({ name, required: schema.required?.includes(name) }, resolve(member)),
  );
  const read = () => {
    const given = inputs.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]);
    return { type: FORM_TYPE, body: new URLSearchParams(given).toString() };
  };
  return { labels: inputs.map((input) => labelled(input.name, input)), read };
}

/** What the example command sends. */
function exampleIn(details) {
  const [, body = ''] = /-d '(.*)'$/s.exec(details.querySelector('pre code').textContent) ?? [];
  return body.replaceAll("'\\''", "'");
}

function toBody(type, text, file) {
  if (type === 'multipart/form-data') {
    const form = new FormData();
    form.append('data', file ?? new File([text], 'upload.csv', { type: 'text/csv' }));
    return { body: form };
  }
  return { type, body: file ?? text };
}

async function send(details, fields, body, answer) {
  const headers = new Headers();
  const query = new URLSearchParams();
  let path = details.dataset.path;
  for (const { parameter, input } of fields) {
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value === '') continue;
    else if (parameter.in === 'header') headers.set(parameter.name, input.value);
    else query.append(parameter.name, input.value);
  }
  const token = byId('token').value.trim();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  const { type, body: content } = body.read();
  if (type) headers.set('Content-Type', type);
  answer.hidden = false;
  answer.textContent = '…';
  try {
    const method = details.dataset.method.toUpperCase();
    const address = query.size > 0 ? `${path}?${query}` : path;
    const response = await fetch(address, { method, headers, body: content, redirect: 'manual', credentials: 'omit' });
    answer.textContent = `${response.status} ${address}\n${await textOf(response)}`;
  } catch (error) {
    answer.textContent = String(error);
  }
}

async function textOf(response) {
  const type = response.headers.get('content-type') ?? '';
  if (!/json|text|xml|^$/.test(type)) return `${(await response.arrayBuffer()).byteLength} bytes of ${type}`;
  const text = (await response.text()).slice(0, MAX_SHOWN);
  try {
    const value = JSON.parse(text);
    return `${keepToken(value)}${JSON.stringify(value, null, 2)}`;
  } catch {
    return text;
  }
}

/** A token that was just given is the one to go on with. */
function keepToken(value) {
  if (typeof value?.access_token !== 'string') return '';
  byId('token').value = value.access_token;
  return 'This token is used from now on.\n';
}

function make(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function labelled(text, field, className = '') {
  const label = make('label', { textContent: text, className });
  label.append(field);
  return label;
}

function grid(labels) {
  const fields = make('div', { className: 'fields' });
  fields.append(...labels);
  return fields;
}
