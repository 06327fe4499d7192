import { dataUrl, isRemote } from '../config/data-url.ts';
import type { Rule, Written } from '../config/joint-problems.ts';
import { envName, SETTINGS, type SettingName } from '../config/settings.ts';
import { isLoopback } from '../http/loopback.ts';

/** Settings that only matter where a host serves the data. */
const REMOTE_ONLY: readonly SettingName[] = ['data_auth', 'data_http', 'cache', 'cache_mb'];

/** Problems of settings about data that a host serves. */
export function remoteRules(
  { dataDir }: { readonly dataDir: string },
  { values, isGiven }: Written,
): Rule[] {
  if (!isRemote(dataDir)) {
    return REMOTE_ONLY.map((name) => [
      values[name] !== undefined && (values.data !== undefined || !isGiven('data')),
      `${envName(name)}: has no effect, because SIGNALPRESS_DATA is a folder of this machine; set it to a URL, or leave ${envName(name)} out`,
    ]);
  }
  const { protocol, hostname } = dataUrl(dataDir);
  const isOpen = protocol === 'http:' && !isLoopback(hostname);
  return [
    [
      !isGiven('issuer_did'),
      `SIGNALPRESS_ISSUER_DID: missing, but the host of SIGNALPRESS_DATA is not trusted to name the issuer; set ${SETTINGS.issuer_did.help}`,
    ],
    [
      isOpen && values.data_http !== true,
      'SIGNALPRESS_DATA: not https, so anyone on the way can keep new releases back; set an https URL, or SIGNALPRESS_DATA_HTTP=1 to accept that',
    ],
    [
      isOpen && isGiven('data_auth'),
      'SIGNALPRESS_DATA_AUTH: would be sent over plain http; set an https URL, or leave it out',
    ],
  ];
}
