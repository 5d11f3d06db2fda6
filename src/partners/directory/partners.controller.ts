import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CLOCK, type Clock } from '../../platform/clock';
import { etagOf, linkNext, PageQuery } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { ListedPartnerDto, PartnerDto, type PartnerPageDto } from './partner.dto';
import { PartnerDirectory } from './partner-directory';
import { GetPartner, ListPartners } from './partners.openapi';

@ApiTags('partners')
@Controller('v1/partners')
export class PartnersController {
  constructor(
    private readonly directory: PartnerDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow('viewer', 'partners')
  @ListPartners()
  async page(
    @Query() query: PageQuery,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PartnerPageDto> {
    const { items, nextCursor } = await this.directory.page(caller, query.limit, query.cursor);
    linkNext(reply, '/v1/partners', query, nextCursor);
    const now = this.clock.now();
    return { items: items.map((partner) => ListedPartnerDto.listed(partner, now)), nextCursor };
  }

  @Get(':id')
  @Allow('viewer', 'partners')
  @GetPartner()
  async find(
    @Param('id') id: string,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PartnerDto> {
    const partner = await this.directory.find(caller, id);
    void reply.header('etag', etagOf(partner.version));
    return PartnerDto.shown(partner, this.clock.now());
  }
}
