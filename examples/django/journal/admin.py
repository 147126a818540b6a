# SPDX-License-Identifier: Apache-2.0
from django.contrib import admin

from .models import Comment, Place, Sighting, Upload


class CommentInline(admin.TabularInline):
    model = Comment
    extra = 0


@admin.register(Sighting)
class SightingAdmin(admin.ModelAdmin):
    list_display = ["bird", "place", "seen_at"]
    list_filter = ["place"]
    search_fields = ["bird", "text"]
    inlines = [CommentInline]


admin.site.register([Place, Upload])
