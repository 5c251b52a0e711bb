/** Converts a webhook to the fields of the form and back. */
import type { components } from '../api/openapi.d.ts';
import { en } from './texts/en.ts';

export type Webhook = components['schemas']['Webhook'];
export type EventType = Webhook['eventType'];

/** `Record` requires a text for every event type. */
const TEXTS: Readonly<Record<EventType, string>> = en.events;

export const EVENT_TYPES = Object.keys(TEXTS) as EventType[];

const FILTERS = ['siteIds', 'sourceIds', 'variableIds'] as const;

export interface WebhookFields {
  readonly name: string;
  readonly url: string;
  readonly eventType: EventType;
  readonly httpMethod: 'POST' | 'PUT';
  readonly isEnabled: boolean;
  /** Custom headers, one `Name: value` per line. */
  readonly headers: string;
  /** Comma-separated ids of the sites in the webhook's filter. An empty filter matches every event. */
  readonly siteIds: string;
  readonly sourceIds: string;
  readonly variableIds: string;
  /** Template of the request body. When the template is empty, the body is the whole message as JSON. */
  readonly bodyTemplate: string;
}

export const NEW_WEBHOOK: WebhookFields = {
  ...{ name: '', url: '', eventType: 'DataPointsWritten', httpMethod: 'POST', isEnabled: true },
  ...{ headers: '', siteIds: '', sourceIds: '', variableIds: '', bodyTemplate: '' },
};

/** @returns the fields of the form, filled with the values of a stored webhook. */
export function toFields(webhook: Webhook): WebhookFields {
  const {
    name,
    url = '',
    eventType,
    httpMethod = 'POST',
    isEnabled,
    headers = {},
    filter = {},
    bodyTemplate,
  } = webhook;
  return {
    ...{ name, url, eventType, httpMethod, isEnabled, bodyTemplate: bodyTemplate ?? '' },
    headers: Object.entries(headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    siteIds: (filter.siteIds ?? []).join(', '),
    sourceIds: (filter.sourceIds ?? []).join(', '),
    variableIds: (filter.variableIds ?? []).join(', '),
  };
}

/** @returns the request body that creates, changes or tests a webhook. */
export function toBody(fields: WebhookFields) {
  const { name, url, eventType, httpMethod, isEnabled, headers, bodyTemplate } = fields;
  return {
    ...{ name: name.trim(), url: url.trim(), eventType, httpMethod, isEnabled },
    bodyTemplate: bodyTemplate.trim() === '' ? null : bodyTemplate,
    headers: Object.fromEntries(
      headers.split('\n').flatMap((line) => {
        const [header = '', ...value] = line.split(':');
        return header.trim() === '' ? [] : [[header.trim(), value.join(':').trim()] as const];
      }),
    ),
    filter: Object.fromEntries(
      FILTERS.flatMap((filter) => {
        const ids = fields[filter]
          .split(/[\s,;]+/)
          .filter(Boolean)
          .map(Number);
        return ids.length === 0 ? [] : [[filter, ids] as const];
      }),
    ),
  };
}
