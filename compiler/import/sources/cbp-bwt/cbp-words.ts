export const CBP = 'US Customs and Border Protection';
export const CBP_PAGE = 'https://bwt.cbp.gov/';
export const CBP_API = 'https://bwt.cbp.gov/api/';
