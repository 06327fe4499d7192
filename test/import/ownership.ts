/** Forms of our own in the shape of the XML of a Form 4. */
export interface Trade {
  readonly code?: string;
  readonly shares?: string;
  readonly side?: string;
  readonly day?: string;
}

const written = (name: string, value: string) => `<${name}><value>${value}</value></${name}>`;

function transaction({
  code = 'S',
  shares = '100',
  side = code === 'S' ? 'D' : 'A',
  day = '2026-11-17',
}: Trade) {
  return `<nonDerivativeTransaction>${written('securityTitle', 'Common Stock')}${written('transactionDate', day)}
    <transactionCoding><transactionFormType>4</transactionFormType><transactionCode>${code}</transactionCode></transactionCoding>
    <transactionAmounts><transactionShares><value>${shares}</value><footnoteId id="F1"/></transactionShares>
      ${written('transactionPricePerShare', '12.5')}${written('transactionAcquiredDisposedCode', side)}</transactionAmounts>
  </nonDerivativeTransaction>`;
}

export interface FormOver {
  readonly type?: string;
  readonly symbol?: string;
  readonly name?: string;
  readonly signed?: string;
}

export function form4(trades: readonly Trade[], over: FormOver = {}): string {
  const { type = '4', symbol = 'EXMP', name = 'Example Corp', signed = '2026-11-18' } = over;
  const table =
    trades.length === 0
      ? ''
      : `<nonDerivativeTable>${trades.map(transaction).join('\n')}</nonDerivativeTable>`;
  return `<?xml version="1.0"?>
<ownershipDocument>
  <documentType>${type}</documentType>
  <issuer><issuerCik>0000123456</issuerCik><issuerName>${name}</issuerName><issuerTradingSymbol>${symbol}</issuerTradingSymbol></issuer>
  <reportingOwner><reportingOwnerId><rptOwnerCik>0000654321</rptOwnerCik><rptOwnerName>Doe Jane</rptOwnerName></reportingOwnerId></reportingOwner>
  ${table}
  <ownerSignature><signatureName>/s/ Jane Doe</signatureName><signatureDate>${signed}</signatureDate></ownerSignature>
</ownershipDocument>
`;
}
