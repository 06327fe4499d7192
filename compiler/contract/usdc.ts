/**
 * USDC by the name of its network: who sells and who buys mean the same token. The CAIP-2 name of the network, and the
 * contract in checksum case.
 */
export const USDC = {
  base: { caip2: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  'base-sepolia': { caip2: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  polygon: { caip2: 'eip155:137', asset: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' },
  'polygon-amoy': { caip2: 'eip155:80002', asset: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582' },
  avalanche: { caip2: 'eip155:43114', asset: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E' },
  'avalanche-fuji': { caip2: 'eip155:43113', asset: '0x5425890298aed601595a70AB815c96711a31Bc65' },
  sei: { caip2: 'eip155:1329', asset: '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392' },
  'sei-testnet': { caip2: 'eip155:1328', asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED' },
} as const;
