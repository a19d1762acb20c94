/**
 * What pods can ask of nodes of some instance types, as the instance type reference of Karpenter v1.14.1 prints it
 * (dl1 and p3: v1.12; p2: v1.0): AL2023, no block device mappings, VM memory overhead 7.5 %. One type a line:
 * `name millicores MiB pods`. Ephemeral storage is 17Gi for every one of them.
 */
const table = `
dl1.24xlarge 95690 718987 737
g4ad.xlarge 3920 14712 8
g4ad.4xlarge 15890 59946 29
g4ad.16xlarge 63770 239554 234
g4dn.2xlarge 7910 29636 29
g4dn.8xlarge 31850 120248 58
g4dn.16xlarge 63770 241490 58
g5.xlarge 3920 14162 58
g5.4xlarge 15890 57691 234
g5.12xlarge 47810 173400 737
g5.24xlarge 95690 355262 737
g5g.xlarge 3920 6525 58
g5g.4xlarge 15890 27322 234
g5g.16xlarge 63770 112720 737
g6.xlarge 3920 14162 58
g6.4xlarge 15890 57691 234
g6.12xlarge 47810 178933 234
g6.24xlarge 95690 355262 737
g6e.xlarge 3920 29317 58
g6e.4xlarge 15890 118312 234
g6e.12xlarge 47810 360157 292
g6e.24xlarge 95690 721682 492
g6f.large 1930 7002 20
g6f.2xlarge 7910 29317 58
g7.2xlarge 7910 27161 254
g7.8xlarge 31850 113934 632
g7.24xlarge 95690 346715 1514
g7e.2xlarge 7910 57471 254
g7e.8xlarge 31850 236562 506
g7e.24xlarge 95690 962625 632
gr6.4xlarge 15890 118312 234
gr6f.4xlarge 15890 118312 234
inf1.2xlarge 7910 14382 38
inf1.24xlarge 95690 177976 321
inf2.8xlarge 31850 118312 234
inf2.48xlarge 191450 718987 737
p2.8xlarge 31850 459304 234
p3.2xlarge 7910 56786 58
p3.16xlarge 63770 459304 234
p4d.24xlarge 95690 1082712 737
p5.4xlarge 15890 240830 118
p5e.48xlarge 191450 1938410 100
p6-b200.48xlarge 191450 1937332 198
trn1.2xlarge 7910 29317 58
trn1n.32xlarge 127610 481894 247
c5.large 1930 3114 29
c5.2xlarge 7910 14162 58
c5.9xlarge 35840 65269 234
c5.18xlarge 71750 127934 737
c6a.large 1930 3114 29
c6a.2xlarge 7910 14162 58
c6a.8xlarge 31850 57691 234
c6a.16xlarge 63770 112779 737
c6a.32xlarge 127610 234021 737
c6i.large 1930 3114 29
c6i.2xlarge 7910 14162 58
c6i.8xlarge 31850 57691 234
c6i.16xlarge 63770 112779 737
c6i.32xlarge 127610 234021 737
c7g.large 1930 3055 29
c7g.2xlarge 7910 14103 58
c7g.8xlarge 31850 57632 234
c7g.16xlarge 63770 112720 737
c7i.xlarge 3920 6584 58
c7i.4xlarge 15890 27381 234
c7i.12xlarge 47810 88002 234
c7i.24xlarge 95690 173400 737
i4i.large 1930 14481 29
i4i.2xlarge 7910 59627 58
i4i.8xlarge 31850 239554 234
i4i.16xlarge 63770 476504 737
i4i.32xlarge 127610 961470 737
m5.xlarge 3920 14162 58
m5.4xlarge 15890 57691 234
m5.12xlarge 47810 178933 234
m5.24xlarge 95690 355262 737
m6a.xlarge 3920 14162 58
m6a.4xlarge 15890 57691 234
m6a.12xlarge 47810 178933 234
m6a.24xlarge 95690 355262 737
m6a.48xlarge 191450 718987 737
m6i.xlarge 3920 14162 58
m6i.4xlarge 15890 57691 234
m6i.12xlarge 47810 178933 234
m6i.24xlarge 95690 355262 737
m7g.medium 940 3286 8
m7g.xlarge 3920 14103 58
m7g.4xlarge 15890 57632 234
m7g.12xlarge 47810 178874 234
m7i.large 1930 6903 29
m7i.2xlarge 7910 29317 58
m7i.8xlarge 31850 118312 234
m7i.16xlarge 63770 234021 737
m7i.48xlarge 191450 718987 737
m8g.large 1930 6844 29
m8g.2xlarge 7910 29258 58
m8g.8xlarge 31850 118253 234
m8g.16xlarge 63770 233962 737
m8g.48xlarge 191450 718928 737
r5.xlarge 3920 29317 58
r5.4xlarge 15890 118312 234
r5.12xlarge 47810 360795 234
r5.24xlarge 95690 718987 737
r6i.xlarge 3920 29317 58
r6i.4xlarge 15890 118312 234
r6i.12xlarge 47810 360795 234
r6i.24xlarge 95690 718987 737
r7g.medium 940 7075 8
r7g.xlarge 3920 29258 58
r7g.4xlarge 15890 118253 234
r7g.12xlarge 47810 360736 234
r7i.large 1930 14481 29
r7i.2xlarge 7910 59627 58
r7i.8xlarge 31850 239554 234
r7i.16xlarge 63770 476504 737
r7i.48xlarge 191450 1446437 737
r8g.large 1930 14422 29
r8g.2xlarge 7910 59568 58
r8g.8xlarge 31850 239495 234
r8g.16xlarge 63770 476445 737
r8g.48xlarge 191450 1446378 737
t3.micro 1930 548 4
t3.medium 1930 3246 17
t3.xlarge 3920 14162 58
vt1.3xlarge 11900 21739 58
vt1.24xlarge 95690 173400 737
`;

export interface PublishedAllocatable {
  readonly cpuMilli: number;
  readonly memoryMiB: number;
  readonly pods: number;
  readonly ephemeralStorage: string;
}

/** The same by instance type. */
export const publishedAllocatable: Readonly<Record<string, PublishedAllocatable>> = Object.fromEntries(
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', cpuMilli, memoryMiB, pods] = line.split(' ');
      return [
        name,
        {
          cpuMilli: Number(cpuMilli),
          memoryMiB: Number(memoryMiB),
          pods: Number(pods),
          ephemeralStorage: '17Gi',
        },
      ];
    }),
);
