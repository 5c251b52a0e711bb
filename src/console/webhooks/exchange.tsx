/** Shows a request to a receiver and the receiver's response, side by side. */
import { useTranslation } from 'react-i18next';
import type { components } from '../api/openapi.d.ts';
import { Frame } from '../parts/frame.tsx';
import classes from '../parts/view.module.css';

interface ExchangeProps {
  readonly request: components['schemas']['SentRequest'] | undefined;
  readonly response: components['schemas']['ReceivedResponse'] | undefined;
  readonly error: string | undefined;
}

/** Bodies are shown as text, so markup in them has no effect. */
export function Exchange({ request, response, error }: ExchangeProps) {
  const { t } = useTranslation('webhooks');
  return (
    <>
      {error !== undefined && <p className={classes.message}>{error}</p>}
      <div className={classes.panes}>
        <section>
          <h3>{t('sent')}</h3>
          {request && (
            <Message head={`${request.method} ${request.url}`} headers={request.headers} body={request.body} />
          )}
        </section>
        <section>
          <h3>{t('answer')}</h3>
          {response ? (
            <Message head={`HTTP ${response.status}`} headers={response.headers} body={response.body} />
          ) : (
            <p className={classes.soft}>{t('noAnswer')}</p>
          )}
        </section>
      </div>
    </>
  );
}

interface MessageProps {
  readonly head: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function Message({ head, headers, body }: MessageProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Frame label={head}>
      <pre className={classes.code}>{[head, ...lines, '', indent(body)].join('\n')}</pre>
    </Frame>
  );
}

/** @returns the JSON in `body`, written anew with line breaks and indents; `body` as it is when it is not JSON. */
function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
